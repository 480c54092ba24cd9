import { printable } from '../support/text.ts'
/** Where lines are written: a terminal, a file or a pipe. */
export interface OutputStream {
  readonly isTTY?: boolean
  readonly columns?: number
  write(text: string): unknown
}

/** Lines, and on a terminal one more below them that is always up to date. */
export interface Terminal {
  /** Whether there is somebody to watch a live line. */
  readonly live: boolean
  line(text: string): void
  /** Replaces the live line; of no effect where there is none. */
  update(text: string): void
  /** Takes the live line away. */
  finish(): void
}

const startOver = '\r\x1b[K'

/**
 * Writes to a stream. What others sent, such as an error's text, can't move the cursor:
 * control characters are left out.
 */
export function createTerminal(out: OutputStream): Terminal {
  const live = out.isTTY === true
  let shown = ''
  return {
    live,
    line(text) {
      out.write(shown === '' ? `${printable(text)}\n` : `${startOver}${printable(text)}\n${shown}`)
    },
    update(text) {
      if (!live) return
      // A line that wraps could not be taken back. Some terminals don't know their width, and say 0.
      shown = printable(text).slice(0, Math.max((out.columns || 80) - 1, 1))
      out.write(`${startOver}${shown}`)
    },
    finish() {
      if (shown !== '') out.write(startOver)
      shown = ''
    },
  }
}
