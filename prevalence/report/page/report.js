"use strict";
// The page is whole without this script. It adds the cells of a product when that comes into view,
// the panel with a review, and the filters. Texts only ever become text nodes.
(() => {
  // Line 1 holds the texts of reviews, line 3 and on a product each; they are parsed when needed.
  const lines = document.getElementById("data").textContent.split("\n");
  const parsed = new Map();
  const line = (number) => {
    if (!parsed.has(number)) {
      const text = lines[number];
      parsed.set(number, JSON.parse(text.endsWith(",") ? text.slice(0, -1) : text));
    }
    return parsed.get(number);
  };
  const textOf = (review) => line(1)[review[0]];
  const productOf = (section) => line(3 + Number(section.dataset.p));
  const main = document.querySelector("main");
  const products = [...document.querySelectorAll(".product")];
  const panel = document.getElementById("panel");
  const at = (id) => document.getElementById(id);
  const STATES = {
    s: ["✓", "supports"], c: ["✗", "contradicts"], n: ["·", "silent"], "-": ["–", "not asked"],
  };
  const DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

  const make = (tag, attributes, ...children) => {
    const node = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value !== null && value !== undefined && value !== false) node.setAttribute(name, value);
    }
    node.append(...children);
    return node;
  };

  // Two digits of base 64 for a probability; "--" where there is none.
  const probability = (packed, place) => {
    const pair = (packed || "").slice(2 * place, 2 * place + 2);
    if (pair.length < 2 || pair === "--") return null;
    return (DIGITS.indexOf(pair[0]) * 64 + DIGITS.indexOf(pair[1])) / 4095;
  };
  const shown = (p) => (p === null ? "not known" : p.toFixed(2));
  const state = (letter) => STATES[letter.toLowerCase()];
  const isDoubtful = (letter) => letter !== letter.toLowerCase();

  const reviewsOf = (section) => productOf(section).r;
  const named = (review, place) =>
    `review ${place}` + (review && review[1] ? ` (${review[1]})` : "") +
    (review && review[2] !== null && review[2] !== undefined ? `, rated ${review[2]}` : "");

  // ---- cells ------------------------------------------------------------------------------------

  const symbol = (letter, tag, attributes) => {
    const kind = { s: "s", c: "c", n: "n", "-": "x" }[letter.toLowerCase()];
    const css = `cell ${kind}${isDoubtful(letter) ? " d" : ""}`;
    return make(tag, { class: css, ...attributes }, state(letter)[0]);
  };

  const cellOf = (letter, place, review, sentence) => {
    const doubt = isDoubtful(letter) ? ", doubtful" : "";
    const label = `${named(review, place)}: ${state(letter)[1]}${doubt}`;
    return symbol(letter, "button", {
      type: "button", tabindex: "-1", "aria-label": label, title: label,
      "data-c": place, "data-r": sentence,
    });
  };

  const heads = (reviews, count) => {
    const row = make("tr", {}, make("td", {}), make("td", {}));
    for (let place = 0; place < count; place += 1) {
      const rating = reviews[place] && reviews[place][2];
      const cell = make("th", { scope: "col", title: named(reviews[place], place) }, String(place));
      if (rating !== null && rating !== undefined) cell.append(make("br"), `★${rating}`);
      row.append(cell);
    }
    return make("thead", {}, row);
  };

  // One tab stop a table, in a row that no filter hides; arrows go from cell to cell.
  const keepStop = (table) => {
    const old = table.querySelector('button.cell[tabindex="0"]');
    const next = table.querySelector("tr:not([hidden]) button.cell");
    if (!next || (old && !old.closest("tr").hidden)) return;
    if (old) old.tabIndex = -1;
    next.tabIndex = 0;
  };

  const enhance = (section) => {
    if (section.dataset.done) return;
    section.dataset.done = "yes";
    const product = productOf(section);
    section.querySelectorAll("article").forEach((article, number) => {
      const table = article.querySelector(".matrix");
      if (!table) return;
      const rows = product.s[number].d;
      const count = Math.max(0, ...rows.map((cells) => cells.length));
      table.prepend(heads(product.r, count));
      table.querySelectorAll("tbody tr").forEach((row, k) => {
        row.querySelector("th").append(
          make("a", { class: "link", href: `#${row.id}`, "aria-label": "Link to this sentence" }, "#"));
        [...rows[k]].forEach((letter, place) => {
          row.append(make("td", {}, cellOf(letter, place, product.r[place], k)));
        });
      });
      keepStop(table);
    });
    if (chosen.rating) dim(section);
  };

  const watcher = new IntersectionObserver((entries) => {
    for (const entry of entries) {
      if (entry.isIntersecting) {
        enhance(entry.target);
        watcher.unobserve(entry.target);
      }
    }
  }, { rootMargin: "800px" });
  products.forEach((section) => watcher.observe(section));
  window.addEventListener("beforeprint", () => {
    if (products.length <= 200) products.forEach(enhance);
  });

  const MOVES = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  document.addEventListener("keydown", (event) => {
    const cell = event.target.closest("td button.cell");
    const move = MOVES[event.key];
    if (!cell || !move) return;
    event.preventDefault();
    const rows = [...cell.closest("tbody").rows].filter((row) => !row.hidden);
    const row = rows[rows.indexOf(cell.closest("tr")) + move[0]];
    const next = row && row.querySelector(`button.cell[data-c="${Number(cell.dataset.c) + move[1]}"]`);
    if (!next) return;
    cell.tabIndex = -1;
    next.tabIndex = 0;
    next.focus();
  });
  document.addEventListener("click", (event) => {
    const cell = event.target.closest("td button.cell");
    if (cell) open(cell.closest("article"), Number(cell.dataset.r), Number(cell.dataset.c), cell);
  });

  // ---- panel ------------------------------------------------------------------------------------

  let opener = null;
  panel.addEventListener("close", () => opener && opener.focus());
  panel.addEventListener("click", (event) => { if (event.target === panel) panel.close(); });

  const passageOf = (summary, k, place) => (summary.e || []).find((e) => e[0] === k && e[1] === place);

  const marked = (review, passage, letter) => {
    const quote = make("blockquote", { dir: "auto" });
    if (!review) {
      if (passage && passage[6]) {
        quote.append("… ", make("mark", { class: letter.toLowerCase() }, passage[6]), " …");
      } else {
        quote.append("The rows hold no text of this review: give the scored records with --records, " +
          "or score with --evidence.");
      }
      return quote;
    }
    const text = textOf(review);
    if (!passage) {
      quote.append(text);
      return quote;
    }
    quote.append(text.slice(0, passage[2]),
      make("mark", { class: letter.toLowerCase() }, text.slice(passage[2], passage[3])),
      text.slice(passage[3]));
    return quote;
  };

  const excerpt = (product, passage, place) => {
    const review = product.r[place];
    if (passage) return review ? textOf(review).slice(passage[2], passage[3]) : passage[6] || "";
    const text = review ? textOf(review) : "";
    return text.length > 120 ? `${text.slice(0, 120)}…` : text;
  };

  const side = (title, wanted, context) => {
    const { product, summary, k, place, show } = context;
    const list = make("ul");
    [...summary.d[k]].forEach((letter, other) => {
      if (letter.toLowerCase() !== wanted) return;
      const button = make("button", { type: "button", "aria-current": other === place && "true" },
        make("small", {}, named(product.r[other], other)), make("br"),
        make("bdi", {}, excerpt(product, passageOf(summary, k, other), other)));
      button.addEventListener("click", () => show(other));
      list.append(make("li", {}, button));
    });
    if (!list.children.length) list.append(make("li", {}, "none"));
    return make("section", {}, make("h3", {}, symbol(wanted, "i", { "aria-hidden": "true" }), title), list);
  };

  const wordsOf = (row) => row.querySelector("th bdi").textContent;

  const open = (article, k, place, from) => {
    opener = from;
    const section = article.closest(".product");
    const product = productOf(section);
    const summary = product.s[[...section.querySelectorAll("article")].indexOf(article)];
    const text = wordsOf(article.querySelectorAll("tbody tr")[k]);
    const show = (chosen) => {
      const letter = summary.d[k][chosen];
      const passage = passageOf(summary, k, chosen);
      const review = product.r[chosen];
      const step = (by, label, glyph) => {
        const button = make("button", { type: "button", "aria-label": label }, glyph);
        button.disabled = !(chosen + by in [...summary.d[k]]);
        button.addEventListener("click", () => show(chosen + by));
        return button;
      };
      const close = make("button", { type: "button" }, "Close");
      close.addEventListener("click", () => panel.close());
      const answer = make("div", { class: "answer" },
        make("span", {}, symbol(letter, "i", { "aria-hidden": "true" }), " ",
          make("b", {}, state(letter)[1] + (isDoubtful(letter) ? ", doubtful" : ""))),
        make("span", {}, `P(entailment) ${shown(probability(summary.p[k], chosen))}`));
      const no = probability((summary.q || [])[k], chosen);
      if (no !== null) answer.append(make("span", {}, `P(contradiction) ${shown(no)}`));
      if (passage) {
        answer.append(make("span", {}, `passage alone: entailment ${shown(passage[4])}` +
          (passage[5] === null ? "" : `, contradiction ${shown(passage[5])}`)));
      }
      if (summary.t !== null) answer.append(make("span", {}, `threshold ${summary.t}`));
      const context = { product, summary, k, place: chosen, show };
      const held = panel.open && document.activeElement.getAttribute("aria-label");
      panel.replaceChildren(
        make("nav", { "aria-label": "Reviews" }, step(-1, "Previous review", "←"),
          step(1, "Next review", "→"), close),
        make("h2", { id: "panel-title" }, make("bdi", {}, text)),
        make("p", { class: "note" }, article.dataset.system),
        make("h3", {}, named(review, chosen)), answer, marked(review, passage, letter),
        make("div", { class: "sides" }, side("supports", "s", context),
          side("contradicts", "c", context)));
      panel.scrollTop = 0;
      // Whoever pressed a button finds it again: all of them are new.
      const again = panel.querySelector(`nav button[aria-label="${held}"]:enabled`) ||
        (held === null && panel.querySelector('[aria-current="true"]'));
      if (panel.open) (again || close).focus({ preventScroll: true });
    };
    show(place);
    if (!panel.open) panel.showModal();
  };

  // ---- finding ----------------------------------------------------------------------------------

  if (!products.length) return;
  document.querySelectorAll(".scripted").forEach((node) => { node.hidden = false; });
  const chosen = { kinds: new Set(), text: "", rating: "", first: "", second: "" };

  let lower = null;
  const hasText = (section, text) => {
    lower = lower || line(1).map((one) => one.toLowerCase());
    return section.querySelector("h3").textContent.toLowerCase().includes(text) ||
      reviewsOf(section).some((review) => lower[review[0]].includes(text));
  };
  const isRated = (review) => Boolean(review) && review[2] === Number(chosen.rating);
  const rated = (product, cells) => [...cells].some((letter, place) =>
    isRated(product.r[place]) && "sc".includes(letter.toLowerCase()));

  const dim = (section) => {
    const reviews = reviewsOf(section);
    section.querySelectorAll("button.cell").forEach((cell) => {
      cell.classList.toggle("off", Boolean(chosen.rating) && !isRated(reviews[cell.dataset.c]));
    });
  };

  const filterArticle = (article, number, whole) => {
    const system = article.dataset.system;
    const wanted = (!chosen.first && !chosen.second) ||
      system === chosen.first || system === chosen.second;
    if (!wanted) return [0, false];
    const product = chosen.rating ? productOf(article.closest(".product")) : null;
    let left = 0;
    article.querySelectorAll("tbody tr").forEach((row, k) => {
      const kinds = (row.dataset.k || "").split(" ");
      const fits = (!chosen.kinds.size || kinds.some((kind) => chosen.kinds.has(kind))) &&
        (whole || !chosen.text || wordsOf(row).toLowerCase().includes(chosen.text)) &&
        (!product || rated(product, product.s[number].d[k]));
      row.hidden = !fits;
      left += fits;
    });
    const bare = !chosen.rating && (whole || !chosen.text) && (!chosen.kinds.size ||
      (chosen.kinds.has("failed") && article.classList.contains("failed")));
    return [left, left > 0 || bare];
  };

  const tell = (sentences, seen) => {
    const counted = (count, what) =>
      `${count.toLocaleString("en")} ${what}${count === 1 ? "" : "s"}`;
    at("found").textContent = `${counted(sentences, "sentence")}, ${counted(seen, "product")}`;
  };

  const apply = () => {
    let sentences = 0;
    let seen = 0;
    main.classList.toggle("pair", Boolean(chosen.first && chosen.second));
    for (const section of products) {
      const whole = Boolean(chosen.text) && hasText(section, chosen.text);
      let any = false;
      section.querySelectorAll("article").forEach((article, number) => {
        const [left, visible] = filterArticle(article, number, whole);
        article.hidden = !visible;
        sentences += visible ? left : 0;
        any = any || visible;
      });
      section.hidden = !any;
      seen += any;
      if (section.dataset.done) {
        dim(section);
        section.querySelectorAll(".matrix").forEach(keepStop);
      }
    }
    tell(sentences, seen);
  };

  let waiting = 0;
  at("find").addEventListener("input", (event) => {
    clearTimeout(waiting);
    waiting = setTimeout(() => {
      chosen.text = event.target.value.trim().toLowerCase();
      apply();
    }, 150);
  });
  document.querySelectorAll("button[data-kind]").forEach((button) => {
    button.addEventListener("click", () => {
      const on = button.getAttribute("aria-pressed") !== "true";
      button.setAttribute("aria-pressed", String(on));
      chosen.kinds[on ? "add" : "delete"](button.dataset.kind);
      apply();
    });
  });
  for (const name of ["rating", "first", "second"]) {
    at(name).addEventListener("change", (event) => {
      chosen[name] = event.target.value;
      apply();
    });
  }
  at("order").addEventListener("change", (event) => {
    const place = (section) => Number(section.dataset[event.target.value === "rows" ? "row" : "p"]);
    const parent = products[0].parentNode;
    [...products].sort((a, b) => place(a) - place(b)).forEach((section) => parent.append(section));
  });
  const clear = () => {
    Object.assign(chosen, { kinds: new Set(), text: "", rating: "", first: "", second: "" });
    document.querySelectorAll("button[data-kind]").forEach((b) => b.setAttribute("aria-pressed", "false"));
    for (const name of ["find", "rating", "first", "second"]) at(name).value = "";
    apply();
  };
  at("clear").addEventListener("click", clear);
  document.querySelector(".tools").addEventListener("submit", (event) => event.preventDefault());

  // A link leads to its sentence even where a filter hides it.
  const follow = () => {
    document.querySelectorAll("tr.here").forEach((row) => row.classList.remove("here"));
    const target = at(location.hash.slice(1));
    if (!target || !target.closest(".product")) return;
    if (target.closest("[hidden]")) clear();
    enhance(target.closest(".product"));
    if (target.matches("tr")) target.classList.add("here");
    // Twice: products on the way get their real heights only when they come into view.
    const show = () => target.scrollIntoView({ block: target.matches("tr") ? "center" : "start" });
    show();
    requestAnimationFrame(() => requestAnimationFrame(show));
  };
  window.addEventListener("hashchange", follow);
  follow();
})();
