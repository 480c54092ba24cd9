import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createContext, Script } from 'node:vm'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')

/** Regular expressions of the product. */
const patterns = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).flatMap((file) =>
  readFileSync(resolve(root, file), 'utf8')
    .split('\n')
    .filter((line) => !/^\s*(\/\/|\/?\*)/.test(line))
    .flatMap((line) => [
      ...line.matchAll(/(?<=[(,=:[!&|?{;]\s*|^\s*|return )\/((?:[^\\/[\n]|\\.|\[(?:[^\]\\]|\\.)+\])+)\/([dgimsuvy]*)/g),
    ])
    .filter(([, body = '']) => !body.startsWith('*'))
    .map(([, body = '', flags = '']) => ({ file, pattern: new RegExp(body, flags) })),
)

/** Long enough that quadratic time takes seconds. */
const length = 50_000

const usual = [...'aA09 \t.-_/="%\\[{?:é\u2028']

/** Texts with one character of a match repeated, which then match no more. */
function attacks(pattern: RegExp): readonly string[] {
  const repeated = usual.map((character) => `${character.repeat(length)}\u0000!`)
  let matches: readonly string[] = []
  // A pattern that repeats nothing without bound is never slow.
  if (!/[+*]|,\}/.test(pattern.source)) return repeated
  try {
    matches = fc.sample(fc.stringMatching(pattern), { numRuns: 4, seed: 20_261_121 })
  } catch {
    // What fast-check cannot build still meets the usual characters.
  }
  const pumped = matches.flatMap((match) =>
    Array.from(
      match,
      (character, index) => `${match.slice(0, index)}${character.repeat(length)}${match.slice(index)}\u0000!`,
    ).slice(0, 24),
  )
  return [...repeated, ...pumped]
}

const sandbox = createContext({ pattern: /x/, text: '' })
const search = new Script('text.search(pattern)')

/** Whether a search takes over half a second of the processor: the clock alone would blame a pattern for a busy machine. */
function isSlow(pattern: RegExp, text: string): boolean {
  Object.assign(sandbox, { pattern, text })
  const before = process.cpuUsage()
  while (process.cpuUsage(before).user < 500_000) {
    try {
      search.runInContext(sandbox, { timeout: 1_000 })
      return false
    } catch {
      // On a busy machine a second passes without much of the processor: once more.
    }
  }
  return true
}

describe('no text makes a pattern of ours slow:', () => {
  it('the patterns are found', () => {
    expect(patterns.length).toBeGreaterThan(50)
    expect(patterns.map(({ pattern }) => pattern.source)).toContain('[?#].*$')
  })

  it.each(patterns)('$file $pattern', ({ pattern }) => {
    expect(attacks(pattern).filter((text) => isSlow(pattern, text))).toEqual([])
  })

  it('a slow pattern is found', () => {
    expect(attacks(/0+$/).some((attack) => isSlow(/0+$/, attack))).toBe(true)
  })
})
