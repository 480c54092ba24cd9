// LICENSES.txt of the bundle, held against what the source maps say is in the bundle.

import { globSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../..')
/** Packages in the bundle of a folder of the repository. */
function packagesInside(bundled: string): readonly string[] {
  const maps = globSync('bundle-maps/**/*.map', { cwd: join(root, bundled) })
  const sources = maps.flatMap((file): string[] => JSON.parse(readFileSync(join(root, bundled, file), 'utf8')).sources)
  const folders = sources.map((file) => /node_modules\/(?:.*\/node_modules\/)?(?:@[^/]+\/)?[^/]+/.exec(file)?.[0])
  return [...new Set(folders.filter((folder) => folder !== undefined))]
}

it.each([
  { bundled: '.', atLeast: 100 },
  { bundled: 'packages/emulator', atLeast: 30 },
])('has name, version, licence text and notices of every package inside, in $bundled', ({ bundled, atLeast }) => {
  const texts = readFileSync(join(root, bundled, 'bundle/LICENSES.txt'), 'utf8')
  const inside = packagesInside(bundled)
  const missing = inside.flatMap((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'))
    const legal = readdirSync(join(root, folder)).filter((file) => /^(licen[sc]e|notice|copying)\b/i.test(file))
    const wanted = legal.map((file) => ({ file, text: readFileSync(join(root, folder, file), 'utf8').trim() }))
    return [{ file: 'package.json', text: `${name} ${version}` }, ...wanted]
      .filter(({ text }) => !texts.includes(text))
      .map(({ file }) => join(folder, file))
  })
  expect(missing).toEqual([])
  expect(inside.length).toBeGreaterThan(atLeast)
})
