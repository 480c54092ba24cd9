import { resolve } from 'node:path'
import { Project, SyntaxKind } from 'ts-morph'
import { expect, it } from 'vitest'
import { serverDefaults } from '../../src/listener/server.ts'
import { metadataFields } from '../../src/metadata/fields/find-field.ts'
import { namespaceDefaults, publisherDefaults } from '../../src/publisher/publisher.ts'
import { readPage, rowsOf, section, tables } from '../documents/page.ts'

const root = resolve(import.meta.dirname, '../..')
const page = readPage('docs/security.md')
const rows = tables(section(page, 'Bounds')).flatMap((table) => rowsOf(page, table))
const sources = new Project()

/** The number of a constant that is private to a file of src: a product of literals. */
function constant(path: string, name: string): number {
  const declared = sources.addSourceFileAtPath(`${root}/src/${path}`).getVariableDeclarationOrThrow(name)
  const factors = [declared, ...declared.getDescendants()].filter((node) => node.isKind(SyntaxKind.NumericLiteral))
  return factors.reduce((product, factor) => product * factor.getLiteralValue(), 1)
}

/** The number in a field's default. */
function field(name: string): number {
  return Number.parseInt(metadataFields.find((one) => one.name === name)?.default ?? '', 10)
}

const count = (value: number) => value.toLocaleString('en-US')
const seconds = (milliseconds: number) => `${milliseconds / 1_000} s`
const bytes = (value: number) => (value < 1_048_576 ? `${value / 1_024} KiB` : `${value / 1_048_576} MiB`)

const bounds = {
  'handler calls at once': count(field('maxConcurrency')),
  'time of a handler, from the arrival of the request': `${field('handlerTimeout')} s`,
  'a body': bytes(field('maxRequestBytes')),
  'events of a body': count(constant('dispatch/events.ts', 'maxEvents')),
  'all bodies of deliveries with a credential that arrive, wait or are handled, and pulled events, in a process': bytes(
    constant('dispatch/room.ts', 'maxBytes'),
  ),
  'deliveries that wait for this room, in a process': count(constant('dispatch/room.ts', 'maxWaiting')),
  'bodies that wait for a handler call': count(constant('dispatch/dispatcher.ts', 'maxWaiting')),
  'longest time that a delivery waits for room and a handler call together': seconds(
    constant('dispatch/room.ts', 'maxWaitMs'),
  ),
  'body of a validation request': bytes(constant('listener/handshake.ts', 'maxValidationBytes')),
  'head of a request': bytes(serverDefaults.maxHeaderBytes),
  'time until the head is there': seconds(serverDefaults.headersTimeoutMs),
  'time until the request is there': seconds(serverDefaults.requestTimeoutMs),
  'time in which nothing moves on a connection': seconds(serverDefaults.connectionTimeoutMs),
  connections: `${count(constant('listener/listener.ts', 'roomForConnections'))}, or 4 for each of \`maxConcurrency\``,
  'credentials of a delivery that are read': count(constant('core/delivery-credential.ts', 'maxCredentials')),
  'a key set of Entra': bytes(constant('listener/entra.ts', 'maxBytes')),
  'pause between two fetches of it': seconds(constant('listener/entra.ts', 'cooldownMs')),
  'time in which a redelivery joins its handling, in `handlerTimeout`': count(
    constant('dispatch/dispatcher.ts', 'joinTimeouts'),
  ),
  'what waits for who reads stdout or stderr; more is dropped': bytes(
    constant('support/command-line/output.ts', 'maxWaitingBytes'),
  ),
  'pause between two log lines of one kind': seconds(constant('core/logger.ts', 'intervalMs')),
  'an event that is published': bytes(publisherDefaults.maxEventBytes),
  'events of a request to the topic': [publisherDefaults, namespaceDefaults]
    .map(({ maxRequestEvents }) => count(maxRequestEvents))
    .join('; of a namespace topic '),
  'events in the publish queue': count(publisherDefaults.maxQueuedEvents),
  'bytes in the publish queue': bytes(publisherDefaults.maxQueuedBytes),
  'time of a `create`': seconds(publisherDefaults.publishTimeoutMs),
  "time of a `create` while the topic's host name does not exist": seconds(publisherDefaults.noSuchHostTimeoutMs),
  'time of one request to the topic': seconds(publisherDefaults.attemptTimeoutMs),
  'time `close` goes on publishing': seconds(publisherDefaults.closeTimeoutMs),
  'nesting of a payload, in levels': count(constant('support/text/json-text.ts', 'maxDepth')),
  'names in the metadata of a `create`': count(constant('publisher/payload.ts', 'maxMetadataNames')),
  'an answer of the topic': bytes(constant('publisher/topic.ts', 'maxAnswerBytes')),
  'an answer of ARM or Entra': bytes(constant('azure/http.ts', 'maxAnswerBytes')),
  'a message of daprd to `serve`': bytes(constant('sidecar/pluggable/server.ts', 'maxMessageBytes')),
  'component names that `serve` knows from calls alone': count(
    constant('sidecar/pluggable/instances.ts', 'maxUninitialized'),
  ),
  'a request to the HTTP API of `run`': bytes(constant('sidecar/host/api/bindings-api.ts', 'bodyLimit')),
  'all unfinished requests to it': bytes(constant('sidecar/host/api/api-server.ts', 'maxUnfinishedBytes')),
  'connections to each address of it': count(constant('sidecar/host/api/api-server.ts', 'maxConnections')),
  'connections to `--metrics-port`': count(constant('sidecar/shared/health-and-metrics-server.ts', 'maxConnections')),
  'a message to the gRPC API of `run`': bytes(constant('sidecar/host/api/grpc-api.ts', 'maxMessageBytes')),
}

it('says of each bound what the code says', () => {
  expect(Object.fromEntries(rows.map(([what = '', bound = '']) => [what, bound]))).toEqual(bounds)
})

it('names the field or option that sets a bound', () => {
  const named = rows.flatMap(([, , setter = '']) => (setter === '' ? [] : [setter]))
  expect(named).toEqual(['`maxConcurrency`', '`handlerTimeout`', '`maxRequestBytes`', '`publishTimeout`'])
})
