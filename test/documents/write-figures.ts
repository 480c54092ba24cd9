// `npm run docs:figures`: writes the figures of bench/RESULTS.md into README.md and docs/performance.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { figureRows, withFigures } from './figures.ts'

const results = readFileSync('bench/RESULTS.md', 'utf8')
for (const path of new Set(figureRows.map(({ page }) => page))) {
  writeFileSync(path, withFigures(path, readFileSync(path, 'utf8'), results))
}
