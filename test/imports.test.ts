import { globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '../src')

/** What each room may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  support: [],
  core: ['support'],
  metadata: ['core', 'support'],
  subscription: ['metadata', 'core', 'support'],
  listener: ['metadata', 'core', 'support'],
  publisher: ['metadata', 'core', 'support'],
  binding: ['subscription', 'listener', 'publisher', 'metadata', 'core', 'support'],
  pluggable: ['binding', 'metadata', 'core', 'support'],
  host: ['binding', 'metadata', 'core', 'support'],
  emulator: ['support'],
  cli: ['emulator', 'pluggable', 'host', 'binding', 'metadata', 'core', 'support'],
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
  // In binding the types of system events alone.
  '@azure/eventgrid': ['publisher', 'binding'],
  '@azure/identity': ['binding'],
  jose: ['listener', 'emulator'],
  yaml: ['metadata', 'emulator'],
}

interface Import {
  readonly file: string
  readonly room: string
  readonly target: string
}

const roomOf = (path: string) => path.split('/')[0] ?? path

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
    return file !== 'index.ts' && to !== room && !mayImport[room]?.includes(to)
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

it('keeps the words of Azure and Event Grid out of support', () => {
  const wrong = globSync('support/**/*.ts', { cwd: root }).filter((file) =>
    /aeg-|\/api\/events|Microsoft\.EventGrid|azure|event ?grid/i.test(
      // The name of this package may be said.
      readFileSync(resolve(root, file), 'utf8').replaceAll('eventgrid-binding', ''),
    ),
  )
  expect(wrong).toEqual([])
})
