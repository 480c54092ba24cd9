import { expect, it } from 'vitest'
import { blobCallOf, blobPlaceOf } from '../../src/blobs/blob-call.ts'

const written = { 'x-ms-blob-type': 'BlockBlob' }

it.each<[what: string, method: string, url: string, headers: Record<string, string>, host?: string, expected?: object]>(
  [
    ['a blob', 'PUT', '/acc/c/a/b%20c', written, 'x', { action: 'PutBlob', container: 'c', blob: 'a/b c' }],
    ['a back slash, as Azure does', 'PUT', '/acc/c/a%5Cb', written, 'x', { action: 'PutBlob', blob: 'a/b' }],
    ['a wrong escape', 'PUT', '/acc/c/%zz', written, 'x', { action: 'PutBlob', blob: '%zz' }],
    ['the account in another case', 'PUT', '/ACC/c/b', written, 'x', { action: 'PutBlob', container: 'c' }],
    ['the account in the host', 'PUT', '/c/b', written, 'acc.blob.localhost:1', { action: 'PutBlob', container: 'c' }],
    ['an address', 'PUT', '/acc/c/b', written, '10.0.0.1:1', { container: 'c' }],
    ['an IPv6 address', 'PUT', '/acc/c/b', written, '[::1]:1', { container: 'c' }],
    ['the host of Docker', 'PUT', '/acc/c/b', written, 'host.docker.internal:1', { container: 'c' }],
    ['a host with dots that is no account', 'PUT', '/acc/c/b', written, 'azurite.dev.svc:1', { account: 'acc' }],
    ['the secondary', 'GET', '/acc-secondary/c/b', {}, 'x', { action: 'Read', account: 'acc', container: 'c' }],
    [
      'a blob from a URL',
      'PUT',
      '/acc/c/b',
      { ...written, 'x-ms-copy-source': 'http://x' },
      'x',
      { action: 'PutBlob' },
    ],
    ['a copy', 'PUT', '/acc/c/b', { 'x-ms-copy-source': 'http://x' }, 'x', { action: 'CopyBlob' }],
    ['a batch', 'POST', '/acc/?comp=batch', {}, 'x', { action: 'Batch', container: '', blob: '' }],
    ['a batch of a container', 'POST', '/acc/c?restype=container&comp=batch', {}, 'x', { action: 'Batch' }],
    ['a directory', 'DELETE', '/acc/c/d?recursive=true', {}, 'x', { action: 'DeleteDirectory', blob: 'd' }],
    ['another account', 'PUT', '/other/c/b', written],
    ['another account in the host', 'PUT', '/c/b', written, 'other.blob.localhost'],
    ['logs of Azure', 'PUT', '/acc/$logs/b', written],
    ['the change feed', 'DELETE', '/acc/$blobchangefeed/b', {}],
    ['neither blob nor copy', 'PUT', '/acc/c/b', {}],
    ['the end of a copy', 'PUT', '/acc/c/b?comp=copy&copyid=1', {}],
    ['undelete', 'PUT', '/acc/c/b?comp=undelete', {}],
    ['the tier of a version', 'PUT', '/acc/c/b?comp=tier&versionid=1', {}],
    ['a query of its contents', 'POST', '/acc/c/b?comp=query', {}],
    ['a container', 'PUT', '/acc/c?restype=container', {}],
  ],
)('takes %s for what it is', (_what, method, url, headers, host = 'x', expected = undefined) => {
  const place = blobPlaceOf(new Set(['acc']), host, url)
  const call = place && blobCallOf(place, { protocol: 'http', host }, { method, url, headers })
  if (expected === undefined) expect(call).toBeUndefined()
  else expect(call).toMatchObject(expected)
})
