import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nestsDeeper, sliceMemberOfItems, sliceTopLevel } from '../../../src/support/text/json-text.ts'

function texts(body: string): readonly string[] {
  const bytes = Buffer.from(body)
  const shape = sliceTopLevel(bytes, 100)
  return 'slices' in shape ? shape.slices.map(({ start, end }) => bytes.subarray(start, end).toString()) : []
}

// That each of these ends on any bytes is in scanners.test.ts.
describe('sliceTopLevel', () => {
  it.each([
    { body: '[]', expected: [] },
    { body: ' [ \n ] ', expected: [] },
    { body: '[{"a":1},{"b":[1,2]}]', expected: ['{"a":1}', '{"b":[1,2]}'] },
    { body: '[ {"a":"],{"} ,\t7, "x,y" ,null]', expected: ['{"a":"],{"}', '7', '"x,y"', 'null'] },
    { body: String.raw`[{"a":"\\"},{"b":"\""}]`, expected: [String.raw`{"a":"\\"}`, String.raw`{"b":"\""}`] },
    { body: '[{"ü":"\u{1F600}"},{}]', expected: ['{"ü":"\u{1F600}"}', '{}'] },
    { body: ' {"a":[1,2]}\n', expected: ['{"a":[1,2]}'] },
  ])('finds the events of $body', ({ body, expected }) => expect(texts(body)).toEqual(expected))

  it('stops at the most events that are allowed', () => {
    expect(sliceTopLevel(Buffer.from('[1,2,3]'), 3)).toMatchObject({ kind: 'array' })
    expect(sliceTopLevel(Buffer.from('[1,2,3,4]'), 3)).toEqual({ kind: 'tooMany' })
  })

  it('cuts any array of JSON values, however it is written, where JSON.parse does', () => {
    const indents = fc.constantFrom(undefined, 1, '\t', '\n\r ')
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), indents, (values, indent) => {
        const body = JSON.stringify(values, null, indent)
        expect(texts(body).map((text) => JSON.parse(text))).toEqual(JSON.parse(body))
      }),
      { numRuns: 300 },
    )
  })
})

describe('sliceMemberOfItems', () => {
  const found = (body: string) => {
    const bytes = Buffer.from(body)
    return sliceMemberOfItems(bytes, 'list', 'event')?.map(({ start, end }) => bytes.subarray(start, end).toString())
  }

  it.each([
    { body: '{"list":[]}', expected: [] },
    {
      body: ' { "a" : [1,{"event":2}], "list" : [ {"event" : 1 , "b":2} , {"b":"}","event":{"x":[3]} } ] , "c":1 } ',
      expected: ['1', '{"x":[3]}'],
    },
    { body: String.raw`{"l\u0069st":[{"ev\u0065nt":"}"}]}`, expected: ['"}"'] },
    { body: '{"list":[{"event":1,"event":2}]}', expected: ['2'] },
    { body: '{"list":[{"even":1}]}', expected: undefined },
    { body: '{"list":[7]}', expected: undefined },
    { body: '{"list":{"event":1}}', expected: undefined },
    { body: '{"other":[{"event":1}]}', expected: undefined },
    { body: '[]', expected: undefined },
    { body: '{"list":[{"event":1', expected: undefined },
  ])('finds the members in $body', ({ body, expected }) => expect(found(body)).toEqual(expected))

  it('cuts any answer, however it is written, where JSON.parse does', () => {
    const indents = fc.constantFrom(undefined, 1, '\t', '\n\r ')
    fc.assert(
      fc.property(fc.array(fc.jsonValue(), { maxLength: 20 }), fc.jsonValue(), indents, (events, more, indent) => {
        const list = events.map((event, index) => (index % 2 ? { event, more } : { more, event }))
        const body = JSON.stringify({ more, list, last: more }, null, indent)
        expect(found(body)?.map((text) => JSON.parse(text))).toEqual(JSON.parse(JSON.stringify(events)))
      }),
      { numRuns: 300 },
    )
  })
})

it.each([
  { text: '[[1]]', levels: 2, deeper: false },
  { text: '[{"a":[1]}]', levels: 2, deeper: true },
  { text: '["[[[[", "\\"[[["]', levels: 1, deeper: false },
  { text: '[[],[],[]]', levels: 2, deeper: false },
])('finds out whether $text nests deeper than $levels', ({ text, levels, deeper }) =>
  expect(nestsDeeper(Buffer.from(text), levels)).toBe(deeper),
)
