/** Counts characters as a terminal shows them: overwritten text counts once. */

export class LineMeter {
  #column = 0;
  #length = 0;

  /** Return by how many characters the text lengthens the visible text. */
  take(text: string): number {
    let grown = 0;
    let start = 0;
    for (const { 0: control, index } of text.matchAll(/[\r\n]/g)) {
      grown += this.#write(index - start);
      start = index + 1;
      this.#column = 0;
      if (control === "\r") continue;
      this.#length = 0;
      grown += 1;
    }
    return grown + this.#write(text.length - start);
  }

  #write(characters: number): number {
    this.#column += characters;
    const grown = Math.max(this.#column - this.#length, 0);
    this.#length += grown;
    return grown;
  }
}
