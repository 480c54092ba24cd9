import type { ServiceDefinition } from '@grpc/proto-loader'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { boundNames } from '../../../src/sidecar/shared/invoke.ts'
import { memberTexts, nestsDeeper, sliceMemberOfItems, sliceTopLevel } from '../../../src/support/text/json-text.ts'

/** Bytes that count how often they are read, and end a scanner that reads them too often. */
function counted(bytes: Uint8Array): Uint8Array {
  let left = 8 * bytes.length + 64
  return new Proxy(bytes, {
    get(target, name) {
      if (--left < 0) throw new Error(`too many steps over ${target.length} bytes`)
      const value: unknown = Reflect.get(target, name, target)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}

const method = { requestDeserialize: () => ({}) }
// Only this member of a service is used.
const service = { Invoke: method } as unknown as ServiceDefinition
const counting = boundNames(service, 'Invoke', 3).Invoke

/** Everything of ours that reads bytes by itself, before or beside a parser. */
const scanners: Readonly<Record<string, (bytes: Uint8Array) => unknown>> = {
  sliceTopLevel: (bytes) => sliceTopLevel(bytes, 100),
  sliceMemberOfItems: (bytes) => sliceMemberOfItems(bytes, 'a', 'b'),
  memberTexts,
  nestsDeeper: (bytes) => nestsDeeper(bytes, 3),
  // A proxy of bytes is a Buffer to who only reads it.
  'names of a gRPC call': (bytes) => counting?.requestDeserialize(bytes as Buffer),
}

/** JSON in pieces, in any order. */
const pieces = fc.constantFrom(
  ...['{', '}', '[', ']', ',', ':', '"', '\\', ' ', '\n', '"a"', '"b"', '"a":', '"b":', '{"a":[', '{"b":1}'],
  ...['1', 'true', 'null', '\\u0061', '"\\u0061":', '\u00e9', '\ufeff', '\u0000', '\u00ff', '\u007f'],
)
const likeJson = fc.array(pieces, { maxLength: 40 }).map((all) => Buffer.from(all.join('')))
const anyBytes = fc.uint8Array({ maxLength: 120 })

describe.each(Object.entries(scanners))('%s reads any bytes in a bounded number of steps', (_name, scan) => {
  it.each([
    ...[
      '{"a"},"b"',
      '{"a"',
      '{"a"},"a":1',
      '{"a":1,"b"}"c"',
      '{"a":{"b"},"c"',
      '{"a":[{"b"},"c":1]}',
      '{"a":[{"b":1}{',
    ],
    ...['{"metadata":{"a"},"b"', '{"a":[', '{"a":[}', '{"a":[,,,', '[,,,', '["\\', '{"\\u":1}', '{"a":[{"\\x":1}]}'],
    ...['{"":"":""', '{"a" "b" "c"', '{"a"]:', '{"a":1 "b":2', '', '\u0000', ']]]', '[}]}', '["'],
  ])('%j', (text) => expect(() => scan(counted(Buffer.from(text)))).not.toThrow())

  it('made at random', () => {
    const bytes = fc.oneof({ weight: 3, arbitrary: likeJson }, anyBytes)
    fc.assert(
      fc.property(bytes, (made) => void scan(counted(made))),
      { seed: 20_261_126, numRuns: 2_000 },
    )
  })

  it('of 10,000 brackets, quotes, keys or commas', () => {
    for (const piece of ['{', '[', '"', '\\"', ',', '"a":', '{"a":', '{"a":[{"b":', '"a":[{"b":1}],', ' '])
      for (const head of ['', '{', '{"a":[', '["'])
        expect(() => scan(counted(Buffer.from(head + piece.repeat(10_000 / piece.length))))).not.toThrow()
  })
})

it('a scanner that starts again is found', () => {
  const again = (bytes: Uint8Array) => {
    for (let at = 0; at < bytes.length; at++) if (bytes[at] === 0x22) at = -1
  }
  expect(() => again(counted(Buffer.from('"')))).toThrow('too many steps')
})
