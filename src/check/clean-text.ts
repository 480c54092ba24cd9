import { hideSecrets } from '../core/scrub.ts'
import { Secret } from '../core/secret.ts'
import { printable } from '../support/text.ts'

const mostLines = 60
const longestLine = 2_000

/** Makes a function that hides the secrets of a component in a text and removes control characters. */
export function createClean(properties: Readonly<Record<string, unknown>>): (text: string) => string {
  const secrets = Object.values(properties).flatMap((value) => {
    const text = value instanceof Secret ? value.reveal() : ''
    // Hiding a very short value would make the text unreadable.
    return text.length < 4 ? [] : [text]
  })
  return (text) =>
    text
      .split('\n')
      .slice(0, mostLines)
      .map((line) => hideSecrets(printable(line), secrets).slice(0, longestLine))
      .join('\n')
}
