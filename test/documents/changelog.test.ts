import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import released from '../fixtures/exports-of-0.2.0.json' with { type: 'json' }
import { exportsOf, root } from './page.ts'

/** The part of CHANGELOG.md about what came after 0.2.0. */
const [since = ''] = readFileSync(`${root}/CHANGELOG.md`, 'utf8').split('\n## 0.2.0\n')

it.each([
  { door: 'src/index.ts', before: released['eventgrid-binding'] },
  { door: 'packages/emulator/src/index.ts', before: released['eventgrid-binding/emulator'] },
])('CHANGELOG.md names each export of $door that came or went since 0.2.0', ({ door, before }) => {
  const now = exportsOf(door)
  const changed = [...now.filter((name) => !before.includes(name)), ...before.filter((name) => !now.includes(name))]
  expect(changed.filter((name) => !new RegExp(`\\b${name}\\b`).test(since))).toEqual([])
})
