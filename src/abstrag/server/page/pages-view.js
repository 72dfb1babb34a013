/** The document as PDF pages: the page of the hit is drawn first, then what is near it. */

import * as api from "/static/api.js";
import { h } from "/static/dom.js";
import { wanted } from "/static/lines.js";

const AT_ONCE = 2; // pictures on their way
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
    this.spots = new Map(); // number of a word of the question → where it is met
    this.queue = new Set(); // pages that are near and not drawn
    this.drawing = 0;
    this.middle = 1; // the page that is looked at
    this.owed = null; // a segment to turn to as soon as the document is seen at all
    this.near = new IntersectionObserver(
      (seen) => {
        if (this.owed && this.element.clientWidth) this.goTo(this.owed);
        for (const { target, isIntersecting } of seen) {
          const page = Number(target.dataset.page);
          if (isIntersecting) this.queue.add(page);
          else this.queue.delete(page); // scrolled past before it was its turn
        }
        this.pump();
      },
      { rootMargin: "600px" },
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

  /** Draw what is near, the page that is looked at first. */
  pump() {
    while (this.drawing < AT_ONCE && this.queue.size) {
      const far = (page) => Math.abs(page - this.middle);
      const page = [...this.queue].sort((a, b) => far(a) - far(b))[0];
      this.queue.delete(page);
      this.paint(this.sheets[page - 1].element);
    }
  }

  async paint(element) {
    const sheet = this.sheets[element.dataset.page - 1];
    if (sheet.begun) return;
    sheet.begun = true;
    this.drawing += 1;
    this.near.unobserve(element);
    try {
      const width = Math.min(2400, Math.round(element.clientWidth * devicePixelRatio));
      const picture = await api.pagePicture(this.id, sheet.page, width);
      sheet.canvas.width = picture.width;
      sheet.canvas.height = picture.height;
      sheet.canvas.getContext("2d").drawImage(picture, 0, 0);
      element.style.aspectRatio = `${picture.width} / ${picture.height}`;
      element.classList.add("drawn");
      // its shape is known only now, and what is drawn over it has to follow
      if (this.owns(sheet.page)) this.goTo(this.active);
      this.element.dispatchEvent(new CustomEvent("words", { bubbles: true }));
    } catch (error) {
      element.append(h("p", { class: "hint", role: "alert", text: error.message }));
    } finally {
      this.drawing -= 1;
      this.pump();
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
    this.spots.clear();
    this.boxAll([...new Set([active, ...looks.keys()])], looks, ranks, () => turn === this.marked);
  }

  /** The hit in focus first, with its page and its words; the others when it stands. */
  async boxAll([active, ...others], looks, ranks, isWanted) {
    const segment = this.segments.get(active);
    if (segment?.page) {
      if (segment.id !== this.active) this.goTo(segment.id);
      await this.place(segment, looks.get(active), ranks.get(active), isWanted);
      await this.spot(segment, isWanted);
    }
    for (const id of others) {
      const other = this.segments.get(id);
      if (other?.page && isWanted()) await this.place(other, looks.get(id), ranks.get(id), isWanted);
    }
  }

  /** Whether a page is the one of the hit in focus, which is being looked at. */
  owns(page) {
    return this.middle === page && this.segments.get(this.active)?.page === page;
  }

  /** Turn to a page at once and draw it before any other. */
  look(page) {
    this.middle = page;
    this.queue.clear();
    const { element } = this.sheets[page - 1];
    element.scrollIntoView({ block: "center", behavior: "instant" });
    this.paint(element);
  }

  /** Find the words of the hit in focus on its page. */
  async spot(segment, isWanted) {
    const some = wanted();
    if (!some.length) return;
    const { words } = await api
      .wordBoxes(
        this.id,
        segment.page,
        segment.id,
        some.map((pair) => pair.span),
      )
      .catch(() => ({ words: [] }));
    if (!isWanted()) return;
    words.forEach((boxes, at) => {
      if (!boxes.length) return;
      const element = frame(boxes[0], segment.id, `spot ${some[at].family}`, null);
      this.sheets[segment.page - 1].marks.append(element);
      this.spots.set(some[at].key, element);
    });
    this.element.dispatchEvent(new CustomEvent("words", { bubbles: true }));
  }

  /** Where the words of the hit in focus stand, by the number of what they meet. */
  words() {
    return this.spots;
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

  /** Turn to a segment; nothing glides, for the pages between would all be drawn. */
  goTo(segment) {
    const box = this.element.querySelector(`.box[data-segment="${CSS.escape(segment ?? "")}"]`);
    const page = this.segments.get(segment)?.page;
    const isSeen = this.element.clientWidth > 0; // on a phone the evidence may be in front
    this.owed = isSeen ? null : segment;
    if (!isSeen) return;
    if (page) this.look(page);
    box?.scrollIntoView({ block: "center", behavior: "instant" });
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
