// `npm run docs:figures`: writes the figures of bench/RESULTS.md into README.md and docs/performance.md.
import { readFileSync, writeFileSync } from 'node:fs'
import { pagesWithFigures, withFigures } from './figures.ts'

const results = readFileSync('bench/RESULTS.md', 'utf8')
for (const path of pagesWithFigures) writeFileSync(path, withFigures(readFileSync(path, 'utf8'), results))
