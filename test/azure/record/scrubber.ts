/** What a record may show: no ids, keys, tokens, hosts and names of a run, but the same placeholder for the same kind of thing. */
import { isRecord } from '../../../src/support/text/json-text.ts'

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
  /** The same for a URL of an answer's header: of its query the api-version alone is shown. */
  link(url: string): string
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

/** Hosts of documentation, and names that are nobody's (RFC 2606). */
const publicHost =
  /^(?:aka\.ms|(?:go|learn|docs)\.microsoft\.com|.*\.(?:invalid|example|test)|(?:.*\.)?example\.(?:com|org|net))$/i
const shownHost = (host: string) => (publicHost.test(host) || host.startsWith('{') ? host : '{host}')

const patterns: readonly (readonly [pattern: RegExp, placeholder: string | ((found: string) => string)])[] = [
  [/eyJ[\w-]{8,}\.[\w.-]*/g, '{token}'],
  [/(?<=\b(?:Bearer|SharedAccessKey|SharedAccessSignature)\s)[^\s"'<>,{]+/gi, '{token}'],
  [/(?<=[?&](?:sig|code|token|t|c|s|h|key|aeg-sas-key|id)=)[^&\s"'<>{]+/gi, '{secret}'],
  // A continuation of a list may have any id in it.
  [/(?<=[?&](?:\$|%24)skiptoken=)[^&\s"'<>{]+/gi, '{token}'],
  [/[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}/gi, '{guid}'],
  [/(?<![\w+/.-])[\da-f]{32}(?![\w+/=-])/gi, '{guid}'],
  [/\b\d{1,2}\/\d{1,2}\/\d{4} \d{1,2}:\d\d:\d\d [AP]M\b/g, '{time}'],
  [/\b[\w.+-]+(?:@|%40)[\w-]+(?:\.[\w-]+)+\b/gi, '{account}'],
  [/(?<=\b[a-z]+:\/\/)[^\s/?#"'<>\\]+/gi, shownHost],
  [/(?<=\b[a-z]+%3A%2F%2F)[^\s/?#"'<>%\\]+(?:%3A\d+)?/gi, shownHost],
  [
    /\b(?:[\w-]+\.)+(?:eventgrid\.azure\.(?:net|us|cn)|core\.(?:windows|usgovcloudapi|chinacloudapi)\.(?:net|cn)|azure\.(?:com|us|cn|net)|microsoftonline\.(?:com|us|cn)|onmicrosoft\.com|windows\.net)(?::\d+)?\b/gi,
    '{host}',
  ],
  [/\b(?:127\.0\.0\.1|localhost|\[::1\]):\d+\b/g, '{host}'],
  [/\b\d{1,3}(?:\.\d{1,3}){3}\b/g, '{address}'],
  // Keys, signatures and lock tokens that nobody told of: long texts of letters of base64. Paths have slashes too, but no padding.
  [/(?<![\w+/.-])[A-Za-z\d+/]{32,}={1,2}(?![\w+/=-])/g, '{key}'],
  [/(?<![\w+/.-])(?=[\w+-]*\d)(?=[\w+-]*[A-Z])[\w+-]{32,}(?![\w+/=.-])/g, '{key}'],
]

/** Headers whose value is a URL with a signed query. */
const signedQuery = /(?<=[?&])(?!api-version=)([^=&]+)=[^&]*/g

export function createScrubber({ subscriptionId, resourceGroup, suffix, origins }: Known): Scrubber {
  /** What is replaced, longest first, so that no part of a longer one is left. */
  let words: (readonly [word: RegExp, placeholder: string, length: number])[] = []
  /** @param isWord replaced only where no letter or digit is beside it, since other words have it in them */
  const add = (word: string, placeholder: string, { isWord = false } = {}) => {
    for (const spelled of spellings(word)) words.push([anyCase(spelled, isWord), placeholder, spelled.length])
    words = words.toSorted(([, , one], [, , other]) => other - one)
  }
  for (const [origin, word] of origins) {
    add(origin, word)
    add(new URL(origin).host, '{host}')
  }
  add(subscriptionId, '{subscription}')
  add(subscriptionId.replaceAll('-', ''), '{subscription}')
  add(`/resourceGroups/${resourceGroup}`, '/resourceGroups/{group}')
  add(resourceGroup, '{group}', { isWord: resourceGroup.length < minSecretLength })
  add(suffix, '{suffix}')

  function text(given: string): string {
    let shown = given
    for (const [word, placeholder] of words) shown = shown.replace(word, () => placeholder)
    for (const [pattern, shownAs] of patterns) {
      shown = shown.replace(pattern, (found) => (typeof shownAs === 'string' ? shownAs : shownAs(found)))
    }
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
    link: (url) => text(url).replace(signedQuery, '$1={secret}'),
    value,
  }
}

/** A word as it may stand in a text: itself, in a URL, in a form, in JSON, in HTML, in base64 at each of three offsets, in hexadecimal. */
function spellings(word: string): readonly string[] {
  const url = encodeURIComponent(word)
  const all = [word, url, url.replaceAll('%20', '+'), encodeURIComponent(url), JSON.stringify(word).slice(1, -1)]
  const decimal = word.replace(/[^a-z\d]/gi, (mark) => `&#${mark.codePointAt(0)};`)
  const hexadecimal = word.replace(/[^a-z\d]/gi, (mark) => `&#x${mark.codePointAt(0)?.toString(16)};`)
  const named = word.replace(
    /[&<>"]/g,
    (mark) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[mark] ?? mark,
  )
  const encoded = word.length < minSecretLength ? [] : [...base64s(word), Buffer.from(word).toString('hex')]
  return [...new Set([...all, decimal, hexadecimal, named, ...encoded])].filter((one) => one !== '')
}

/** The letters of base64 that a word alone decides, behind 0, 1 and 2 bytes of something else. */
function base64s(word: string): readonly string[] {
  const whole = Buffer.from(word).toString('base64')
  const parts = [0, 1, 2].flatMap((offset) => {
    const bytes = Buffer.concat([Buffer.alloc(offset), Buffer.from(word)])
    // A letter holds 6 bits. The first ones have bits of what stands before, the last one of what follows.
    const own = [Math.ceil((offset * 8) / 6), Math.floor((bytes.length * 8) / 6)] as const
    return [bytes.toString('base64').slice(...own), bytes.toString('base64url').slice(...own)]
  })
  return [whole, whole.replace(/=+$/, ''), Buffer.from(word).toString('base64url'), ...parts]
}

/** Group names and ids come back in other letter cases. */
function anyCase(word: string, isWord: boolean): RegExp {
  const escaped = word.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
  // What is encoded before the word ends in a letter or digit too: %2F.
  return new RegExp(isWord ? `(?:(?<![a-z\\d])|(?<=%[\\da-f]{2}))${escaped}(?![a-z\\d])` : escaped, 'gi')
}
