/** What may be shown of the URL, the headers and the body of a request: what an allow-list names; all else is redacted. */
import { isRecord } from '../../../../src/support/text/json-text.ts'

const redacted = '(redacted)'

/** Parameters of Resource Manager, the data planes and Entra whose values are no secret. All others may hold a key. */
const publicParameters: ReadonlySet<string> = new Set([
  'functionname',
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
    .replace(query, (_whole, mark: string, rest: string) => mark + shownParameters(rest, { nameless: 'kept' }))
}

/** The same for a URL or a path with its query. What has no name in the query may be a key too. */
export function shownPath(url: string): string {
  return url
    .replace(userInfo, '$1')
    .replace(query, (_whole, mark: string, rest: string) => mark + shownParameters(rest, { nameless: 'redacted' }))
}

function shownParameters(text: string, { nameless }: { readonly nameless: 'kept' | 'redacted' }): string {
  // A second question mark begins another value: `?api-version=2018-01-01?aeg-sas-key=...` is a common slip.
  return text
    .split(/([?&;]|%3f|%26|%3b)/i)
    .map((part, index) => {
      const [, name = '', value = ''] = /^(.*?)(?:=|%3d)(.*)$/is.exec(part) ?? []
      if (index % 2 === 1 || part === '') return part
      if (name === '') return nameless === 'kept' ? part : redacted
      return value === '' || publicParameters.has(name.toLowerCase()) ? part : `${name}=${redacted}`
    })
    .join('')
}

/** Values in a URL's query that an answer may repeat, longest first. Short ones are no secrets. */
export function secretValuesOf(url: URL): readonly string[] {
  const values = [...url.searchParams].flatMap(([name, value]) =>
    publicParameters.has(name.toLowerCase()) ? [] : [value],
  )
  return values
    .flatMap((value) => [value, encodeURIComponent(value)])
    .filter(({ length }) => length >= 4)
    .toSorted((one, other) => other.length - one.length)
}

/** A text without these values. */
export function withoutValues(text: string, values: readonly string[]): string {
  return values.reduce((rest, value) => rest.replaceAll(value, redacted), text)
}

/** Headers of requests whose values are no secret. Those that begin with `ce-` are members of a published event. */
const publicHeaders: ReadonlySet<string> = new Set([
  ...['accept', 'accept-encoding', 'accept-language', 'access-control-request-method', 'aeg-channel-name'],
  ...['aeg-data-version', 'aeg-delivery-count', 'aeg-event-type', 'aeg-metadata-version', 'aeg-subscription-name'],
  ...[
    'allow',
    'cache-control',
    'client-request-id',
    'connection',
    'content-encoding',
    'content-length',
    'content-type',
  ],
  ...[
    'date',
    'expect',
    'host',
    'if-match',
    'if-none-match',
    'keep-alive',
    'location',
    'origin',
    'range',
    'retry-after',
  ],
  ...['return-client-request-id', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'te', 'traceparent'],
  ...['tracestate', 'transfer-encoding', 'user-agent', 'via'],
  ...['webhook-request-callback', 'webhook-request-origin', 'webhook-request-rate', 'x-ms-access-tier'],
  ...['x-ms-blob-content-type', 'x-ms-blob-type', 'x-ms-client-request-id', 'x-ms-correlation-request-id'],
  ...['x-ms-date', 'x-ms-request-id', 'x-ms-return-client-request-id', 'x-ms-useragent', 'x-ms-version'],
  'x-request-id',
])

/** Of a credential its scheme is shown, where it is one of these. */
const credentialHeaders: ReadonlySet<string> = new Set(['authorization', 'proxy-authorization'])
const scheme = /^(?:Basic|Bearer|SharedAccessKey|SharedAccessSignature|SharedKey|SharedKeyLite) (?=\S)/i

type Headers = Readonly<Record<string, string | readonly string[] | undefined>>

/** The headers with the values of all that are not known to be public redacted. */
export function shownHeaders(headers: Headers): Record<string, string | string[]> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      if (value === undefined) return []
      return [[name, typeof value === 'string' ? shownHeader(name, value) : value.map((one) => shownHeader(name, one))]]
    }),
  )
}

/** The value of one header, or `(redacted)`. Of a credential the scheme. */
function shownHeader(name: string, value: string): string {
  const lower = name.toLowerCase()
  if (credentialHeaders.has(lower)) return `${scheme.exec(value)?.[0] ?? ''}${redacted}`
  return publicHeaders.has(lower) || lower.startsWith('ce-') ? shownText(value) : redacted
}

/** Members of the bodies of Resource Manager, Graph and Entra whose values are no secret, in lower case. */
const publicMembers: ReadonlySet<string> = new Set([
  ...['action', 'advancedfilters', 'autocreatetopicwithfirstsubscription', 'autodeletetopicwithlastsubscription'],
  ...['azureactivedirectoryapplicationidoruri', 'azureactivedirectorytenantid', 'blobcontainername', 'capacity'],
  ...['client_assertion_type', 'client_id', 'client_info', 'dataresidencyboundary', 'dataversion'],
  ...['deadletterdestination', 'deadletterdestinationwithresourceidentity', 'deadletterwithresourceidentity'],
  ...['defaultvalue', 'deliveryattributemappings', 'deliveryconfiguration', 'deliverymode', 'deliveryschema'],
  ...['deliverywithresourceidentity', 'destination', 'disablelocalauth', 'enableadvancedfilteringonarrays'],
  ...['endpointbaseurl', 'endpointtype', 'endpointurl', 'eventdeliveryschema', 'eventretentionindays', 'eventtime'],
  ...['eventtimetolive', 'eventtimetoliveinminutes', 'eventtype', 'expirationtimeutc', 'filter', 'filters'],
  ...['filtersconfiguration', 'grant_type', 'id', 'identity', 'ids', 'inboundiprules', 'includedeventtypes'],
  ...['inputschema', 'inputschemamapping', 'inputschemamappingtype', 'ipmask', 'issecret', 'issubjectcasesensitive'],
  ...['iszoneredundant', 'keyname', 'kind', 'labels', 'location', 'maxdeliveryattempts', 'maxdeliverycount'],
  ...['maxeventsperbatch', 'minimumtlsversionallowed', 'name', 'operatortype', 'preferredbatchsizeinkilobytes'],
  ...['principalid', 'principaltype', 'properties', 'publicnetworkaccess', 'publishertype', 'queue', 'queuename'],
  ...['queuemessagetimetoliveinseconds', 'receivelockdurationinseconds', 'resource', 'resourceid', 'response_type'],
  ...['retrypolicy', 'roledefinitionid', 'scope', 'sku', 'source', 'sourcefield', 'subject', 'subjectbeginswith'],
  ...['subjectendswith', 'tenantid', 'tier', 'topic', 'topictype', 'type', 'userassignedidentity'],
])

/** What a condition of a filter compares, and the value of a delivery attribute that says of itself that it is not secret. */
const operands: ReadonlySet<string> = new Set(['key', 'value', 'values'])

/** No body that is taken nests deeper. */
const deepest = 32

/** A parsed body with the values of all members redacted that are not known to be public. */
export function shownBody(body: unknown, depth = 0): unknown {
  if (typeof body === 'string') return shownText(body)
  if (typeof body !== 'object' || body === null) return body
  if (depth >= deepest) return redacted
  if (Array.isArray(body)) return body.map((one) => shownBody(one, depth + 1))
  if (!isRecord(body)) return redacted
  const names = new Map(Object.keys(body).map((name) => [name.toLowerCase(), name]))
  const hasOperands = names.has('operatortype') || body[names.get('issecret') ?? ''] === false
  return Object.fromEntries(
    Object.entries(body).map(([name, value]) => {
      const lower = name.toLowerCase()
      const isShown = publicMembers.has(lower) || (hasOperands && operands.has(lower))
      if (!isShown) return [name, redacted]
      return [name, /url$/.test(lower) && typeof value === 'string' ? shownPath(value) : shownBody(value, depth + 1)]
    }),
  )
}
