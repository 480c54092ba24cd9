import { readFile } from 'node:fs/promises'

/** The page's own files, beside this one both in the sources and in what is built from them. */
const folder = new URL('./assets/', import.meta.url)

const types = {
  'index.html': 'text/html; charset=utf-8',
  'page.css': 'text/css; charset=utf-8',
  'icon.svg': 'image/svg+xml',
  'samples.json': 'application/json; charset=utf-8',
  'page.js': 'text/javascript; charset=utf-8',
  'fates.js': 'text/javascript; charset=utf-8',
  'elements.js': 'text/javascript; charset=utf-8',
  'events.js': 'text/javascript; charset=utf-8',
  'event-dialog.js': 'text/javascript; charset=utf-8',
  'plots.js': 'text/javascript; charset=utf-8',
  'publish.js': 'text/javascript; charset=utf-8',
  'resources.js': 'text/javascript; charset=utf-8',
} as const

export type AssetName = keyof typeof types

export function assetNames(): AssetName[] {
  // Object.keys gives strings, and the object's keys are what it was written with.
  return Object.keys(types) as AssetName[]
}

export async function readAsset(name: AssetName): Promise<{ readonly type: string; readonly content: Buffer }> {
  return { type: types[name], content: await readFile(new URL(name, folder)) }
}
