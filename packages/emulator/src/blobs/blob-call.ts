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
  | 'SetBlobTier'
  /** Its answer says what the blob is. */
  | 'Read'
  /** Raises nothing, and makes another blob of it: longer, or of another content type. */
  | 'Alter'
  | 'DeleteContainer'
  | 'Batch'

/** Lower-case names, as Node has them. */
export type CallHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

export interface BlobCall {
  readonly action: BlobAction
  readonly container: string
  /** Decoded, as events have it. Empty for a container, or for all of the account. */
  readonly blob: string
  readonly query: URLSearchParams
  readonly headers: CallHeaders
  /** Path and query, as sent. */
  readonly url: string
}

/** A request, or a part of a batch. */
export interface RawCall {
  readonly method: string
  readonly url: string
  readonly headers: CallHeaders
}

/** The blob, or container, that a path of this account names; undefined for another account, and for the account itself. */
export function placeOfPath(
  account: string,
  host: string,
  path: string,
): Pick<BlobCall, 'container' | 'blob'> | undefined {
  const parts = decoded(path).replace(/^\//, '').split('/')
  const [first = '', ...rest] = parts
  const inHost = accountOfHost(host)
  if ((inHost ?? first).toLowerCase() !== account) return undefined
  const [container = '', ...names] = inHost === undefined ? rest : parts
  // As Azure and Azurite have it.
  return { container, blob: names.join('/').replaceAll('\\', '/') }
}

/** The account of a host such as `account.blob.localhost`; undefined where it is in the path. */
function accountOfHost(host: string): string | undefined {
  const name = host.replace(/:\d+$/, '')
  const isPlain = /^[\d.]+$|^\[/.test(name) || name.toLowerCase() === 'host.docker.internal'
  return isPlain || !name.includes('.') ? undefined : name.slice(0, name.indexOf('.'))
}

/** What a request asks for; undefined where it neither raises events nor tells of blobs. */
export function blobCallOf(account: string, host: string, { method, url, headers }: RawCall): BlobCall | undefined {
  const [path = '', search = ''] = url.split('?', 2)
  const place = placeOfPath(account, host, path)
  const query = new URLSearchParams(search)
  const action = place && actionOf(place, method, query, headers)
  if (!place || !action || silentContainers.has(place.container)) return undefined
  return { ...place, action, query, headers, url }
}

function actionOf(
  { blob }: Pick<BlobCall, 'blob'>,
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
