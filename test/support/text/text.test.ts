import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { cut, oneLine, printable, quote, shellWord } from '../../../src/support/text/text.ts'
import { anyText } from '../any-text.ts'

describe('text for a log or a terminal', () => {
  it('has a space for each character that moves the cursor or turns the direction', () => {
    expect(printable('a\u001b[31m\tb\u202ec\ud800')).toBe('a [31m b c ')
  })

  it('is one line, whatever comes in', () => {
    expect(oneLine(' a\r\n  forged\u2028line ')).toBe('a forged line')
    fc.assert(
      fc.property(anyText(), (text) => {
        const line = oneLine(text, 50)
        expect(line).not.toMatch(/[\p{Cc}\p{Zl}\p{Zp}]/u)
        expect(line.length).toBeLessThanOrEqual(51)
      }),
    )
  })

  it('is cut with a mark', () => {
    expect(cut('abcdef', 6)).toBe('abcdef')
    expect(cut('abcdefg', 6)).toBe('abcdef…')
    expect(cut('abcde😀', 6)).toBe('abcde…')
    expect(quote(`"${'x'.repeat(300)}`)).toBe(`"\\"${'x'.repeat(199)}…"`)
  })
})

it.each([
  { word: '/subscriptions/1/resourceGroups/rg', shown: '/subscriptions/1/resourceGroups/rg' },
  { word: '<clientId>', shown: '<clientId>' },
  { word: 'a b', shown: "'a b'" },
  { word: "rg(it's)", shown: "'rg(it'\\''s)'" },
  { word: '', shown: "''" },
  { word: '~/x', shown: "'~/x'" },
  { word: '$(rm)', shown: "'$(rm)'" },
])('writes $word for a shell as $shown', ({ word, shown }) => expect(shellWord(word)).toBe(shown))
