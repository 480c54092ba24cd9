// First-in-first-out list in constant time for waiting events.

/** First in, first out, in constant time per step. */
export class Fifo<T> {
  #items: (T | undefined)[] = []
  #head = 0

  get size(): number {
    return this.#items.length - this.#head
  }

  push(item: T): void {
    this.#items.push(item)
  }

  peek(): T | undefined {
    return this.#items[this.#head]
  }

  shift(): T | undefined {
    const item = this.#items[this.#head]
    this.#items[this.#head] = undefined
    if (this.size > 0) this.#head++
    // Moving the rest only once half the array is empty keeps the average cost of a step constant.
    if (this.#head > 1024 && this.#head * 2 > this.#items.length) {
      this.#items = this.#items.slice(this.#head)
      this.#head = 0
    }
    return item
  }
}
