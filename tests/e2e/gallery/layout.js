// What is wrong with how a drawn chart is laid out: a list of sentences, empty when all is well.
//
// Boxes are those that the browser computes. Texts are compared as turned rectangles (labels at 45
// degrees cover no one), a little smaller than their boxes, which have room above and below.
"use strict";

function corners(text) {
  const box = text.getBBox();
  const matrix = text.getScreenCTM();
  const cut = box.height * 0.18;
  const xs = [box.x + 1, box.x + box.width - 1];
  const ys = [box.y + cut, box.y + box.height - cut];
  const at = (x, y) => new DOMPoint(x, y).matrixTransform(matrix);
  return [at(xs[0], ys[0]), at(xs[1], ys[0]), at(xs[1], ys[1]), at(xs[0], ys[1])];
}

// The separating axis theorem, for two rectangles.
function overlap(a, b) {
  for (const shape of [a, b]) {
    for (const [from, to] of [[0, 1], [1, 2]]) {
      const axis = { x: shape[to].x - shape[from].x, y: shape[to].y - shape[from].y };
      const along = (points) => points.map((p) => p.x * axis.x + p.y * axis.y);
      const [first, second] = [along(a), along(b)];
      if (Math.max(...first) <= Math.min(...second) || Math.max(...second) <= Math.min(...first)) {
        return false;
      }
    }
  }
  return true;
}

function isVisible(element) {
  for (let at = element; at instanceof SVGElement; at = at.parentNode) {
    const style = getComputedStyle(at);
    if (style.display === "none" || style.visibility === "hidden" || style.opacity === "0") return false;
  }
  return element.textContent.trim() !== "";
}

function isClipped(element) {
  return element.closest("[clip-path]") !== null;
}

// Texts of the frame (titles, axes, legends) and not of the data: those may well cover each other.
function isGuide(text) {
  return text.closest(".mark-text.role-mark, .note, .values") === null;
}

function layoutProblems(svg) {
  const problems = [];
  const frame = svg.getBoundingClientRect();
  if (frame.width < 40 || frame.height < 40) problems.push(`only ${frame.width} by ${frame.height} pixels`);
  const outside = (element, slack) => {
    const box = element.getBoundingClientRect();
    return (
      box.left < frame.left - slack || box.right > frame.right + slack ||
      box.top < frame.top - slack || box.bottom > frame.bottom + slack
    );
  };
  const texts = [...svg.querySelectorAll("text")].filter(isVisible);
  for (const text of texts) {
    if (outside(text, 1.5)) problems.push(`"${text.textContent}" is cut off`);
  }
  for (const shape of svg.querySelectorAll("path, rect, line, circle, polyline, polygon")) {
    if (shape.closest("defs, clipPath") || isClipped(shape)) continue;
    const box = shape.getBoundingClientRect();
    if (box.width + box.height > 0 && outside(shape, 4)) {
      problems.push(`a ${shape.tagName} (${shape.getAttribute("class") ?? ""}) is cut off`);
    }
  }
  const guides = texts.filter(isGuide).map((text) => ({ text, corners: corners(text) }));
  for (let i = 0; i < guides.length; i++) {
    for (let j = i + 1; j < guides.length; j++) {
      if (!overlap(guides[i].corners, guides[j].corners)) continue;
      problems.push(`"${guides[i].text.textContent}" covers "${guides[j].text.textContent}"`);
    }
  }
  return [...new Set(problems)];
}
