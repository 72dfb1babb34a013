/** The access key of a server that is not on loopback: asked for once, kept for this tab only. */

import { byId, h, show } from "/static/dom.js";

const PLACE = "abstrag-key";

/** The header that carries the key, or nothing when there is none. */
export function bearer() {
  const key = sessionStorage.getItem(PLACE);
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** Take a key handed over in the address (#key=…) and clear it from there. */
export function takeKeyFromAddress() {
  const match = /^#key=(.+)$/.exec(location.hash);
  if (!match) return;
  sessionStorage.setItem(PLACE, decodeURIComponent(match[1]));
  history.replaceState(null, "", location.pathname);
}

let asking = null;

/** Ask the person for the key; true when one was given, false when they closed the dialog. */
export function askForKey() {
  asking ??= new Promise((resolve) => {
    const dialog = byId("key");
    const field = h("input", {
      type: "password",
      id: "key-field",
      autocomplete: "off",
      required: true,
    });
    show(
      dialog,
      h(
        "form",
        {
          method: "dialog",
          on: { submit: () => sessionStorage.setItem(PLACE, field.value.trim()) },
        },
        h("h2", { id: "key-head", text: "This server asks for its token" }),
        h("p", { text: "abstrag serve printed it when it started. It is kept for this tab only." }),
        h("label", { for: "key-field", text: "Token" }),
        field,
        h("p", { class: "actions" }, h("button", { class: "primary", value: "ok", text: "Open" })),
      ),
    );
    dialog.addEventListener(
      "close",
      () => {
        asking = null;
        resolve(dialog.returnValue === "ok");
      },
      { once: true },
    );
    dialog.returnValue = "";
    dialog.showModal();
  });
  return asking;
}
