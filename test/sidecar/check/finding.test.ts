import { expect, it } from 'vitest'
import { type Finding, failed, joined, ok, warning } from '../../../src/sidecar/check/finding.ts'

it.each<{ readonly name: string; readonly given: readonly Finding[]; readonly is: object }>([
  { name: 'all that is well', given: [ok('a'), ok('b')], is: { status: 'ok', detail: 'a\nb' } },
  {
    name: 'what failed, and what is a warning beside it',
    given: [warning('w', { remedy: 'r' }), ok('a'), failed('f', { remedy: 'r', belongsTo: 'azure/scope' })],
    is: { status: 'failed', detail: 'f\nw', remedy: 'r', belongsTo: 'azure/scope' },
  },
])('joins findings: $name', ({ given, is }) => expect(joined(given)).toMatchObject(is))
