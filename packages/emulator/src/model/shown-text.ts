// What may be shown of a text that quotes a URL: the names in its query, and the values of parameters that hold no secret.

const redacted = '(redacted)'

/** Parameters of Resource Manager, the data planes and Entra whose values are no secret. All others may hold a key. */
const publicParameters: ReadonlySet<string> = new Set([
  'api-version',
  '$filter',
  '$top',
  '$skiptoken',
  'label',
  'authorization_endpoint',
  'maxevents',
  'maxwaittime',
  'releasedelayinseconds',
])

/** A query with its question mark, as it is written or encoded, up to where the URL ends. */
const query = /(\?|%3f)([^\s'"<>]*)/gi
const userInfo = /(\/\/)[^\s/?#'"<>@]+@/g

/** A text of others with what may be a secret in the URLs that it quotes left out. */
export function shownText(text: string): string {
  return text
    .replace(userInfo, '$1')
    .replace(query, (_whole, mark: string, rest: string) => mark + shownParameters(rest, { alone: 'kept' }))
}

/** The same for a URL or a path with its query. What stands alone in the query may be a key too. */
export function shownPath(url: string): string {
  return url
    .replace(userInfo, '$1')
    .replace(query, (_whole, mark: string, rest: string) => mark + shownParameters(rest, { alone: 'redacted' }))
}

function shownParameters(text: string, { alone }: { readonly alone: 'kept' | 'redacted' }): string {
  // A second question mark begins another value: `?api-version=2018-01-01?aeg-sas-key=...` is a common slip.
  return text
    .split(/([?&;]|%3f|%26|%3b)/i)
    .map((part, index) => {
      const [, name = '', value = ''] = /^(.*?)(?:=|%3d)(.*)$/is.exec(part) ?? []
      if (index % 2 === 1 || part === '') return part
      if (name === '') return alone === 'kept' ? part : redacted
      return value === '' || publicParameters.has(name.toLowerCase()) ? part : `${name}=${redacted}`
    })
    .join('')
}

/** Values in a URL's query that an answer may repeat, longest first. Short ones are no secrets. */
export function secretValuesOf(url: URL): readonly string[] {
  const values = [...url.searchParams].flatMap(([name, value]) => (publicParameters.has(name) ? [] : [value]))
  return values
    .flatMap((value) => [value, encodeURIComponent(value)])
    .filter(({ length }) => length >= 4)
    .toSorted((one, other) => other.length - one.length)
}

/** A text without these values. */
export function withoutValues(text: string, values: readonly string[]): string {
  return values.reduce((rest, value) => rest.replaceAll(value, redacted), text)
}
