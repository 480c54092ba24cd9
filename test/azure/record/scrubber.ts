/** Takes ids, keys, tokens and host names out of what is recorded, and puts the same placeholder in for the same kind of thing. */
import { isRecord } from '../../../src/support/text/is-record.ts'

/** What a run knows of itself. */
export interface Known {
  readonly subscriptionId: string
  readonly resourceGroup: string
  readonly suffix: string
  /** Origins, with the word that stands for each: `https://...` to `{arm}`. */
  readonly origins: ReadonlyMap<string, string>
}

export interface Scrubber {
  /** A value that no record may show, however it is spelled. */
  learn(secret: string): void
  text(text: string): string
  /** The same for each text and name in a value of JSON. */
  value(value: unknown): unknown
}

/** Shorter texts are ordinary words. */
const minSecretLength = 6

/** Members whose value is secret whatever it is. */
const secretMembers =
  /^(key\d|.*(secret|password|token|signature|sas|connectionstring|validationcode|validationresponse))$/i

/** Members that say who somebody is. */
const personal =
  /^(createdBy|lastModifiedBy|principalId|clientId|tenantId|objectId|appid|azp|oid|tid|sub|upn|unique_name|email)$/i

const patterns: readonly (readonly [pattern: RegExp, placeholder: string])[] = [
  [/eyJ[\w-]{8,}\.[\w.-]*/g, '{token}'],
  [/(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)\s)[^\s"'<>,{]+/gi, '{token}'],
  [/(?<=[?&](?:sig|code|token|t|c|s|h|key|aeg-sas-key|id)=)[^&\s"'<>{]+/gi, '{secret}'],
  [/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/gi, '{guid}'],
  [/\b\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d\d:\d\d [AP]M\b/g, '{time}'],
  [/\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b/g, '{account}'],
  [
    /\b(?:[\w-]+\.)+(?:eventgrid\.azure\.net|core\.windows\.net|azure\.com|microsoftonline\.com|windows\.net)(?::\d+)?\b/gi,
    '{host}',
  ],
  [/\b(?:127\.0\.0\.1|localhost|\[::1\]):\d+\b/g, '{host}'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '{address}'],
  // Keys, signatures and lock tokens that nobody told of: long texts of letters of base64. Paths have slashes too, but no padding.
  [/(?<![\w+/.-])[A-Za-z\d+/]{32,}={1,2}(?![\w+/=-])/g, '{key}'],
  [/(?<![\w+/.-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])[\w+-]{32,}(?![\w+/=.-])/g, '{key}'],
]

export function createScrubber({ subscriptionId, resourceGroup, suffix, origins }: Known): Scrubber {
  /** What is replaced, longest first, so that no part of a longer one is left. */
  let words: (readonly [word: string, placeholder: string])[] = []
  const add = (word: string, placeholder: string) => {
    for (const spelled of spellings(word)) words.push([spelled, placeholder])
    words = words.toSorted(([one], [other]) => other.length - one.length)
  }
  for (const [origin, word] of origins) {
    add(origin, word)
    add(new URL(origin).host, '{host}')
  }
  add(subscriptionId, '{subscription}')
  add(`/resourceGroups/${resourceGroup}`, '/resourceGroups/{group}')
  add(suffix, '{suffix}')

  function text(given: string): string {
    let shown = given
    for (const [word, placeholder] of words) shown = replaceAnyCase(shown, word, placeholder)
    for (const [pattern, placeholder] of patterns) shown = shown.replace(pattern, placeholder)
    return shown
  }

  function value(given: unknown): unknown {
    if (typeof given === 'string') return text(given)
    if (Array.isArray(given)) return given.map(value)
    if (!isRecord(given)) return given
    return Object.fromEntries(
      Object.entries(given).map(([name, one]) => {
        if (typeof one === 'string' && one !== '' && secretMembers.test(name)) return [text(name), '{secret}']
        if (typeof one === 'string' && one !== '' && personal.test(name)) return [text(name), '{guid}']
        return [text(name), value(one)]
      }),
    )
  }

  return {
    learn(secret) {
      if (secret.length >= minSecretLength) add(secret, '{secret}')
    },
    text,
    value,
  }
}

/** A word as it may stand in a text: itself, in a URL, in a form, in JSON, in base64. */
function spellings(word: string): readonly string[] {
  const url = encodeURIComponent(word)
  const json = JSON.stringify(word).slice(1, -1)
  const base64 = Buffer.from(word).toString('base64')
  const all = [word, url, url.replaceAll('%20', '+'), encodeURIComponent(url), json, base64, base64.replace(/=+$/, '')]
  return [...new Set([...all, Buffer.from(word).toString('base64url')])]
}

/** Group names and ids come back in other letter cases. */
function replaceAnyCase(given: string, word: string, placeholder: string): string {
  if (word === '') return given
  return given.replace(new RegExp(word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&'), 'gi'), () => placeholder)
}
