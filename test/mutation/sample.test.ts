import { expect, it } from 'vitest'
import { sampleOf } from './sample.ts'

const sources = { 'src/a.ts': 'x\n'.repeat(1200), 'src/b.ts': 'x\n' }

it('takes about one stretch in so many, the same for the same seed, and others for another', () => {
  const sample = (oneIn: number, seed: string) => sampleOf(sources, { oneIn, seed })
  expect(sample(1, '1')).toHaveLength(102)
  expect(sample(1, '1').slice(0, 2)).toEqual(['src/a.ts:1-12', 'src/a.ts:13-24'])
  expect(sample(4, '1').length).toBeGreaterThan(10)
  expect(sample(4, '1').length).toBeLessThan(45)
  expect(sample(4, '1')).toEqual(sample(4, '1'))
  expect(sample(4, '1')).not.toEqual(sample(4, '2'))
})
