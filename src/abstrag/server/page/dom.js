/** Elements without markup: every string becomes a text node, so nothing a document says can run. */

/**
 * Make an element. `class` and `text` are what they say, `on` maps events to listeners, `data` goes
 * to the dataset, `style` sets custom properties; anything else is an attribute, false or null none.
 */
export function h(tag, props = {}, ...children) {
  return fill(document.createElement(tag), props, children);
}

/** Make an SVG element, in the same way. */
export function svg(tag, props = {}, ...children) {
  return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), props, children);
}

function fill(element, props, children) {
  for (const [name, value] of Object.entries(props)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.setAttribute("class", value);
    else if (name === "text") element.textContent = value;
    else if (name === "on")
      for (const [event, listener] of Object.entries(value))
        element.addEventListener(event, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "style")
      for (const [key, of] of Object.entries(value)) element.style.setProperty(key, of);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(2).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** Find an element of the page by its id. */
export const byId = (id) => document.getElementById(id);

/** Put these children in place of all that is there. */
export function show(parent, ...children) {
  parent.replaceChildren(...children.flat(2).filter(Boolean));
}

/** Say something to a screen reader. */
export function say(words) {
  byId("said").textContent = words;
}

/** True when the person asked for less movement. */
export const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

/** Bring an element into the middle of what is seen. */
export function reveal(element) {
  element?.scrollIntoView({ block: "center", behavior: still() ? "auto" : "smooth" });
}
