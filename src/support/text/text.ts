/** Makes texts printable: on one line, cut, quoted, or as a word of a shell; and compares secret ones. */
import { timingSafeEqual } from 'node:crypto'

/** Control characters, invisible format characters (which can reverse the direction of text), and halves of surrogate pairs. */
const unsafe = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu

/** The text with a space for each character that could move a cursor, begin a line or not be written as UTF-8. */
export function printable(text: string): string {
  return text.replace(unsafe, ' ')
}

/**
 * A text from outside as one printable line: white space becomes single spaces, and what is over `maxLength` is cut off.
 *
 * @param maxLength in UTF-16 code units. @default no limit
 */
export function oneLine(text: string, maxLength = Number.POSITIVE_INFINITY): string {
  return cut(printable(text).replace(/\s+/g, ' ').trim(), maxLength)
}

/** The text, cut to `maxLength` UTF-16 code units and marked with `…` if it is longer. No half of a surrogate pair is left at the end. */
export function cut(text: string, maxLength: number): string {
  return text.length > maxLength ? `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, '')}…` : text
}

/** A text in quotes, control characters escaped, cut at 200 characters. For texts that are not secret. */
export function quote(text: string): string {
  return JSON.stringify(cut(text, 200))
}

/** A word of a command to paste, quoted where a shell would not take it literally: the name of a resource group may have parentheses. */
export function shellWord(word: string): string {
  return /^[\w./:@<>%+,-][\w./:@<>%+=,~-]*$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`
}

/** Whether two texts are equal, in a time that does not depend on where they differ. */
export function isSameText(given: string, expected: string): boolean {
  const [one, other] = [Buffer.from(given), Buffer.from(expected)]
  return one.length === other.length && timingSafeEqual(one, other)
}
