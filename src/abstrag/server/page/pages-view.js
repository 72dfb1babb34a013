/** The document as PDF pages: pictures drawn when they come near, quotes boxed where they stand. */

import * as api from "/static/api.js";
import { h, reveal } from "/static/dom.js";

const A4 = "1 / 1.4142"; // until the first page says how it is shaped

export class PagesView {
  constructor(info, content) {
    this.id = info.id;
    this.segments = content.byId;
    this.places = new Map(); // "page:segment" → promise of boxes
    this.marked = 0;
    this.active = null;
    this.sheets = Array.from({ length: info.pages }, (_, at) => this.sheet(at + 1, content));
    this.element = h(
      "div",
      { class: "pages" },
      this.sheets.map((sheet) => sheet.element),
    );
    this.near = new IntersectionObserver(
      (seen) => seen.filter((one) => one.isIntersecting).forEach((one) => this.paint(one.target)),
      { rootMargin: "800px" },
    );
    this.sheets.forEach((sheet) => this.near.observe(sheet.element));
  }

  leave() {
    this.near.disconnect();
  }

  sheet(page, content) {
    const canvas = h("canvas", { role: "img", "aria-label": `Page ${page}` });
    const marks = h("div", { class: "marks" });
    const element = h(
      "figure",
      { class: "sheet-page", data: { page }, on: { click: (event) => this.pick(event, page) } },
      canvas,
      marks,
      h("figcaption", { text: `${page}` }),
    );
    element.style.aspectRatio = A4;
    return {
      element,
      canvas,
      marks,
      page,
      segments: content.segments.filter((one) => one.page === page),
    };
  }

  async paint(element) {
    const sheet = this.sheets[element.dataset.page - 1];
    this.near.unobserve(element);
    try {
      const width = Math.min(2400, Math.round(element.clientWidth * devicePixelRatio));
      const picture = await api.pagePicture(this.id, sheet.page, width);
      sheet.canvas.width = picture.width;
      sheet.canvas.height = picture.height;
      sheet.canvas.getContext("2d").drawImage(picture, 0, 0);
      element.style.aspectRatio = `${picture.width} / ${picture.height}`;
      element.classList.add("drawn");
    } catch (error) {
      element.append(h("p", { class: "hint", role: "alert", text: error.message }));
    }
  }

  /** Where a segment stands on a page; asked once, and again only if that failed. */
  boxes(page, segment) {
    const key = `${page}:${segment.id}`;
    if (!this.places.has(key)) {
      const asked = api.boxes(this.id, page, segment.span).then((place) => place.boxes);
      asked.catch(() => this.places.delete(key));
      this.places.set(key, asked);
    }
    return this.places.get(key);
  }

  /** Box the found segments as they are placed, the one in focus first, and bring it into view. */
  mark(found, active) {
    const turn = ++this.marked;
    const looks = new Map(
      found.map((entry) => [entry.segment, entry.reachable ? "box whole" : "box"]),
    );
    const ranks = new Map(found.map((entry, at) => [entry.segment, at + 1]));
    if (active) looks.set(active, `${looks.get(active) ?? "box"} active`);
    this.sheets.forEach((sheet) => sheet.marks.replaceChildren());
    for (const id of new Set([active, ...looks.keys()])) {
      const segment = this.segments.get(id);
      if (segment?.page)
        this.place(segment, looks.get(id), ranks.get(id), () => turn === this.marked);
    }
  }

  /** Draw the boxes of one segment, unless the marks have changed meanwhile. */
  async place(segment, looks, rank, wanted) {
    const last = this.sheets[segment.page - 1].segments.at(-1) === segment; // may run over the foot
    const pages = last && segment.page < this.sheets.length ? [0, 1] : [0];
    const lists = await Promise.all(
      pages.map((more) => this.boxes(segment.page + more, segment).catch(() => [])),
    );
    if (!wanted()) return;
    lists.forEach((boxes, more) =>
      this.sheets[segment.page - 1 + more].marks.append(
        ...boxes.map((box, at) => frame(box, segment.id, looks, at || more ? null : rank)),
      ),
    );
    if (!looks.endsWith("active") || segment.id === this.active) return;
    this.active = segment.id;
    this.goTo(segment.id);
  }

  goTo(segment) {
    const box = this.element.querySelector(`.box[data-segment="${CSS.escape(segment ?? "")}"]`);
    const page = this.segments.get(segment)?.page;
    reveal(box ?? (page ? this.sheets[page - 1].element : null));
  }

  /** A click takes the segment under it; the popup does the rest. */
  async pick(event, page) {
    const { left, top, width, height } = this.sheets[page - 1].element.getBoundingClientRect();
    const [x, y] = [(event.clientX - left) / width, (event.clientY - top) / height];
    const detail = { x: event.clientX, y: event.clientY };
    detail.segment =
      event.target.closest(".box")?.dataset.segment ?? (await this.under(x, y, page));
    if (detail.segment)
      this.element.dispatchEvent(new CustomEvent("pick", { bubbles: true, detail }));
  }

  /** Which segment stands at a point of a page, given in shares of its width and height. */
  async under(x, y, page) {
    const { segments } = this.sheets[page - 1];
    const places = await Promise.all(
      segments.map((segment) => this.boxes(page, segment).catch(() => [])),
    );
    const holds = ([x0, y0, x1, y1]) => x0 <= x && x <= x1 && y0 <= y && y <= y1;
    return segments[places.findIndex((boxes) => boxes.some(holds))]?.id;
  }
}

const share = (fraction) => `${100 * fraction}%`;

function frame([x0, y0, x1, y1], segment, looks, rank) {
  return h("div", {
    class: looks,
    data: { segment, ...(rank ? { rank } : {}) },
    style: { left: share(x0), top: share(y0), width: share(x1 - x0), height: share(y1 - y0) },
  });
}
