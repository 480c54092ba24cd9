/** What a request to a blob service asks for, as far as its events go: by method, path, query and headers, or as a part of a batch. */

/** Containers of Azure's own, whose changes raise no events. */
const silentContainers: ReadonlySet<string> = new Set(['$logs', '$blobchangefeed'])

/** Those of these names whose value is a REST operation of Azure raise events, under this name. */
export type BlobAction =
  | 'PutBlob'
  | 'PutBlock'
  | 'PutBlockList'
  | 'CopyBlob'
  | 'DeleteBlob'
  /** Of Data Lake: the one request of its writes that Azurite takes. */
  | 'DeleteDirectory'
  | 'SetBlobTier'
  /** Its answer says what the blob is. */
  | 'Read'
  /** Raises nothing, and makes another blob of it: longer, or of another content type. */
  | 'Alter'
  | 'DeleteContainer'
  | 'Batch'

/** Lower-case names, as Node has them. */
export type CallHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The blob, or container, that a request names. */
export interface BlobPlace {
  readonly account: string
  /** Whether the account is in the path, and not in the host. */
  readonly isInPath: boolean
  readonly container: string
  /** Decoded, as events have it. Empty for a container, or for all of the account. */
  readonly blob: string
}

export interface BlobCall extends BlobPlace {
  readonly action: BlobAction
  readonly query: URLSearchParams
  readonly headers: CallHeaders
  /** Path and query, as sent. */
  readonly url: string
  readonly origin: Origin
}

/** Where a client sent a request to. */
export interface Origin {
  readonly protocol: 'http' | 'https'
  /** With the port, as the client has it. */
  readonly host: string
}

/** A request, or a part of a batch. */
export interface RawCall {
  readonly method: string
  readonly url: string
  readonly headers: CallHeaders
}

/** What a request, or the source of a copy, is about; undefined where neither its host nor its path begins with one of the accounts. */
export function blobPlaceOf(accounts: ReadonlySet<string>, host: string, url: string): BlobPlace | undefined {
  const [path = ''] = url.split('?', 1)
  const parts = decoded(path).replace(/^\//, '').split('/')
  const accountNamed = (name = '') => {
    const account = name.toLowerCase().replace(/-secondary$/, '')
    return accounts.has(account) ? account : undefined
  }
  const [label, ...domain] = host.split('.')
  const inHost = domain.length === 0 ? undefined : accountNamed(label)
  const account = inHost ?? accountNamed(parts[0])
  if (account === undefined) return undefined
  const [container = '', ...names] = inHost === undefined ? parts.slice(1) : parts
  // As Azure and Azurite have it.
  return { account, isInPath: inHost === undefined, container, blob: names.join('/').replaceAll('\\', '/') }
}

/** What a request about a place asks for; undefined where it neither raises events nor tells of blobs. */
export function blobCallOf(place: BlobPlace, origin: Origin, { method, url, headers }: RawCall): BlobCall | undefined {
  const [, search = ''] = url.split('?', 2)
  const query = new URLSearchParams(search)
  const action = actionOf(place, method, query, headers)
  if (!action || silentContainers.has(place.container)) return undefined
  return { ...place, action, query, headers, url, origin }
}

function actionOf(
  { blob }: BlobPlace,
  method: string,
  query: URLSearchParams,
  headers: CallHeaders,
): BlobAction | undefined {
  const comp = query.get('comp') ?? ''
  if (blob === '') {
    if (method === 'POST' && comp === 'batch') return 'Batch'
    return method === 'DELETE' && query.get('restype') === 'container' ? 'DeleteContainer' : undefined
  }
  // A snapshot or a version: the blob itself stays as it is.
  if (query.has('snapshot') || query.has('versionid')) return undefined
  if (method === 'DELETE') {
    // A parameter of directories alone (learn, Path - Delete).
    if (query.has('recursive')) return 'DeleteDirectory'
    return comp === '' && headers['x-ms-delete-snapshots'] !== 'only' ? 'DeleteBlob' : undefined
  }
  if (method === 'GET' || method === 'HEAD') return comp === '' ? 'Read' : undefined
  if (method !== 'PUT') return undefined
  if (comp !== '') return actionsOfComp[comp]
  if (headers['x-ms-blob-type'] !== undefined) return 'PutBlob'
  return headers['x-ms-copy-source'] === undefined ? undefined : 'CopyBlob'
}

const actionsOfComp: Readonly<Record<string, BlobAction>> = {
  block: 'PutBlock',
  blocklist: 'PutBlockList',
  tier: 'SetBlobTier',
  appendblock: 'Alter',
  properties: 'Alter',
}

/** A header that a client sends once. */
export function headerOf(headers: CallHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === 'string' ? value : value?.[0]
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path)
  } catch {
    // Azurite refuses it.
    return path
  }
}

export interface BatchAnswer {
  readonly status: number
  readonly headers: CallHeaders
}

export interface BatchPart {
  readonly call: RawCall
  readonly answer: BatchAnswer
}

/** A message of HTTP with a body, as the batch and its answer are. */
export interface Multipart {
  readonly contentType: string | undefined
  readonly body: string
}

/** The requests of a batch, with the ids by which their answers name them. */
export function batchCalls(request: Multipart): readonly { readonly id: string; readonly call: RawCall }[] {
  return messagesOf(request).flatMap(({ id, first, headers }) => {
    const [, method, url] = /^([A-Z]+) (\S+)(?: HTTP\/[\d.]+)?$/.exec(first) ?? []
    return method === undefined || url === undefined ? [] : [{ id, call: { method, url, headers } }]
  })
}

/** Each request of a batch with its answer; without those that were not answered. */
export function batchParts(request: Multipart, answer: Multipart): readonly BatchPart[] {
  const answers = new Map(messagesOf(answer).map((message) => [message.id, message]))
  return batchCalls(request).flatMap(({ id, call }) => {
    const answered = answers.get(id)
    const [, status] = /^HTTP\/[\d.]+ (\d{3})\b/.exec(answered?.first ?? '') ?? []
    return answered === undefined || status === undefined
      ? []
      : [{ call, answer: { status: Number(status), headers: answered.headers } }]
  })
}

/** The messages in a body, by their Content-ID, or else by their place. */
function messagesOf({ contentType = '', body }: Multipart) {
  const [, quoted, plain] = /;\s*boundary=(?:"([^"]+)"|([^\s;]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? plain
  if (boundary === undefined) return []
  // Before the first boundary stands nothing, behind the last one `--`.
  const parts = body.split(`--${boundary}`).slice(1)
  return parts.flatMap((part, at) => {
    const [head = '', message = ''] = sections(part.replace(/^\r?\n/, ''))
    const [first = '', ...lines] = message.split(/\r?\n/)
    if (first === '') return []
    const id = headersOf(head.split(/\r?\n/))['content-id'] ?? String(at)
    return [{ id, first: first.trim(), headers: headersOf(lines) }]
  })
}

/** What blank lines divide. */
const sections = (text: string) => text.split(/\r?\n\r?\n/)

function headersOf(lines: readonly string[]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    lines.flatMap((line) => {
      const [, name = '', value = ''] = /^([^:\s]+):(.*)$/.exec(line) ?? []
      return name === '' ? [] : [[name.toLowerCase(), value.trim()]]
    }),
  )
}
