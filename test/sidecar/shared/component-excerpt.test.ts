import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readComponentFile } from '../../../src/metadata/component/component-file.ts'
import { excerptOf } from '../../../src/sidecar/shared/component-excerpt.ts'
import { markedComponent } from '../../metadata/component/marked-component.ts'
import { place } from '../../support/place.ts'

const draw = (at: string, width = 100, yaml = markedComponent) =>
  excerptOf(readComponentFile(yaml, 'f.yaml'), place(at), width)

describe('the line of a fault', () => {
  it.each([
    [
      'f.yaml:8:37',
      ['  8 |     - { name: handshakePort, value: 9000 }', '    |                                     ^'],
    ],
    ['f.yaml:9:36', ['  9 |     - { name: clientSecret, value: *** }', '    |                                    ^']],
    [
      'f.yaml:10:39',
      ['  10 |     - { name: accessKey, value: ***, valeu: *** }', '     |                                    ^'],
    ],
    ['f.yaml:12:14', ['  12 |       value: ***', '     |              ^']],
    [
      'f.yaml:14:51',
      [
        '  14 |     - { name: scope, secretKeyRef: { name: store, key: scope } }',
        '     |                                                   ^',
      ],
    ],
  ])('of %s has a caret under it, and shows no secret', (at, lines) => {
    expect(draw(at).split('\n')).toEqual(lines)
  })

  it('keeps the place in view where the line is wider than the terminal', () => {
    const [line = '', caret = ''] = draw('f.yaml:8:37', 40).split('\n')
    expect(line.length).toBeLessThanOrEqual(40)
    expect(line.slice(caret.indexOf('^'))).toMatch(/^9000/)
  })

  it('shows of a text with a syntax error the words of its envelope only', () => {
    const broken = 'kind: Component\nspec:\n  metadata:\n    - { name: clientSecret, value: "MARKED x, MARKED }\n'
    const file = readComponentFile(broken, 'f.yaml')
    const shown = excerptOf(file, file.issues[0]?.at ?? place('f.yaml:1:1'), 100)
    expect(shown).toMatch(/\^$/)
    expect(draw('f.yaml:4:20', 100, broken)).toContain('- { name: clientSecret, value: "*** ***, *** }')
  })

  it('never shows a secret, wherever the place and however the file is cut off', () => {
    fc.assert(
      fc.property(
        fc.nat(markedComponent.length),
        fc.nat(16),
        fc.nat(80),
        fc.integer({ min: 0, max: 120 }),
        (cut, line, column, width) => {
          const shown = draw(`f.yaml:${line}:${column}`, width, markedComponent.slice(0, cut)) ?? ''
          expect(shown).not.toMatch(/MARKED(?![1…])/)
        },
      ),
      { numRuns: 500 },
    )
  })
})
