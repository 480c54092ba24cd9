import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../src')

/** What each room may import besides itself and the leaves, the files that lie directly in src. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  metadata: [],
  subscription: ['metadata'],
  listener: ['metadata'],
  publisher: ['metadata'],
  binding: ['subscription', 'listener', 'publisher', 'metadata'],
  pluggable: ['binding', 'metadata'],
  host: ['binding', 'metadata'],
  emulator: [],
  cli: ['emulator', 'pluggable', 'host', 'binding', 'metadata'],
}

/** Packages that only the named rooms use, so that what depends on them is easy to find. */
const packageRooms: Readonly<Record<string, readonly string[]>> = {
  fastify: ['emulator', 'host'],
  '@grpc/grpc-js': ['pluggable'],
  '@grpc/proto-loader': ['pluggable'],
  '@grpc/reflection': ['pluggable'],
  'prom-client': ['pluggable'],
  protobufjs: ['pluggable'],
  '@azure/arm-eventgrid': ['subscription'],
  '@azure/eventgrid': ['publisher'],
  '@azure/identity': ['binding'],
  jose: ['listener', 'emulator'],
  yaml: ['metadata', 'emulator'],
}

interface Import {
  readonly file: string
  readonly room: string
  readonly target: string
}

const leaf = '(leaf)'
const roomOf = (path: string) => (path.includes('/') ? (path.split('/')[0] ?? leaf) : leaf)

const imports: Import[] = globSync('**/*.ts', { cwd: root }).flatMap((file) => {
  const text = readFileSync(resolve(root, file), 'utf8')
  return [...text.matchAll(/(?:from|import)\s*\(?\s*'([^']+)'/g)].map(([, specifier = '']) => ({
    file,
    room: roomOf(file),
    target: specifier.startsWith('.') ? relative(root, resolve(root, dirname(file), specifier)) : specifier,
  }))
})

const own = imports.filter(({ target }) => target.endsWith('.ts'))

it('keeps the arrows between rooms pointing down', () => {
  const wrong = own.filter(({ file, room, target }) => {
    const to = roomOf(target)
    if (file === 'index.ts' || to === room) return false
    if (room === 'emulator') return true
    return to !== leaf && !mayImport[room]?.includes(to)
  })
  expect(wrong).toEqual([])
})

it('lets nothing in src import a front door', () => {
  expect(own.filter(({ target }) => target === 'index.ts')).toEqual([])
})

it('keeps each outside package in the rooms that are made for it', () => {
  const wrong = imports.filter(({ room, target }) =>
    Object.entries(packageRooms).some(
      ([name, rooms]) => (target === name || target.startsWith(`${name}/`)) && !rooms.includes(room),
    ),
  )
  expect(wrong).toEqual([])
})
