// Notices a model that says the same thing over and over: at low temperature a small one may never stop by itself.

/** Longest stretch that is looked for as a repeated one. */
const periodMax = 300;
/** So much of nothing but repeats of one stretch, and so many of them, is no text that somebody wants. */
const charsMin = 1000;
const repeatsMin = 6;
const charsBetweenLooks = 50;

export class RunawayGuard {
  #tail = "";
  #unseen = 0;

  /** Takes the next piece of a text; true when its end has been nothing but repeats for long. */
  push(piece: string): boolean {
    this.#tail = (this.#tail + piece).slice(-periodMax * repeatsMin);
    this.#unseen += piece.length;
    if (this.#unseen < charsBetweenLooks || this.#tail.length < charsMin) return false;
    this.#unseen = 0;
    return isRepeating(this.#tail);
  }
}

function isRepeating(text: string): boolean {
  for (let period = 1; period <= periodMax; period += 1) {
    const needed = Math.max(charsMin, period * repeatsMin);
    if (needed > text.length) return false;
    let same = 0;
    while (same + period < needed && text.charCodeAt(text.length - 1 - same) === text.charCodeAt(text.length - 1 - same - period)) same += 1;
    if (same + period >= needed) return true;
  }
  return false;
}
