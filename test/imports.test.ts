import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'

const root = resolve(import.meta.dirname, '..')

/** Folders of `test` that no folder of `src` stands for: suites of the whole, and what tests share. */
const suites = [
  ...['attack', 'dapr', 'documents', 'end-to-end', 'faults', 'image', 'lifecycle', 'mutation', 'prometheus', 'secrets'],
  ...['soak', 'specification', 'types', 'witness', 'support', 'fixtures', 'recorded'],
  // npm run test:azure; beside them are the tests of src/azure.
  ...['facts', 'make', 'plan', 'probes', 'product', 'push', 'record', 'report', 'suite', 'wire'].map(
    (part) => `azure/${part}`,
  ),
]

const below = ['azure', 'metadata', 'core', 'support']
const rooms = ['provision', 'dispatch', ...below]
const sides = ['listener', 'receiver', 'publisher', ...rooms]

/** What each room may import besides itself. */
const mayImport: Readonly<Record<string, readonly string[]>> = {
  support: [],
  core: ['support'],
  metadata: ['core', 'support'],
  azure: ['metadata', 'core', 'support'],
  provision: below,
  dispatch: below,
  listener: rooms,
  receiver: rooms,
  publisher: below,
  binding: sides,
  'sidecar/shared': ['binding', ...sides],
  'sidecar/pluggable': ['sidecar/shared', 'binding', ...sides],
  'sidecar/host': ['sidecar/shared', 'binding', ...sides],
  'sidecar/check': ['sidecar/shared', 'binding', ...sides],
  'sidecar/replay': ['binding', ...sides],
  'sidecar/cli': [
    'sidecar/shared',
    'sidecar/pluggable',
    'sidecar/host',
    'sidecar/check',
    'sidecar/replay',
    'emulator',
    'binding',
    ...sides,
  ],
  emulator: ['support'],
}

const lower = ['model', 'records', 'server', 'state', 'entra']

/** The same for the rooms of the emulator. The files beside them put the rooms together and may import all. */
const emulatorRooms: Readonly<Record<string, readonly string[]>> = {
  model: [],
  records: ['model'],
  server: ['model', 'records'],
  state: ['model', 'records'],
  entra: ['model', 'records', 'server', 'state'],
  arm: lower,
  topics: lower,
  blobs: [...lower, 'topics'],
  'dead-letters': ['model', 'records'],
  namespaces: [...lower, 'dead-letters'],
  delivery: [...lower, 'dead-letters'],
  config: [...lower, 'arm', 'topics', 'dead-letters', 'namespaces', 'delivery'],
  page: [],
  'test-interface': [...lower, 'topics', 'namespaces', 'delivery', 'config'],
  cli: ['model', 'records', 'config', 'delivery', 'test-interface', 'index.ts'],
}

/** Packages that only the named rooms use, so that what depends on them is easy to find. */
const packageRooms: Readonly<Record<string, readonly string[]>> = {
  fastify: ['emulator', 'sidecar/host', 'listener'],
  '@grpc/grpc-js': ['sidecar/pluggable', 'sidecar/host', 'sidecar/shared'],
  '@grpc/proto-loader': ['sidecar/pluggable', 'sidecar/host', 'sidecar/shared'],
  '@grpc/reflection': ['sidecar/pluggable'],
  'prom-client': ['sidecar/shared'],
  '@opentelemetry/api': ['core', 'dispatch', 'listener', 'receiver', 'publisher', 'binding'],
  '@azure/arm-eventgrid': ['provision'],
  // In binding the types of system events alone.
  '@azure/eventgrid': ['publisher', 'binding'],
  '@azure/identity': ['azure'],
  '@azure/msal-node': ['azure'],
  jose: ['listener', 'emulator'],
  yaml: ['support'],
}

interface Import {
  readonly file: string
  readonly room: string
  readonly target: string
  /** Whether it is loaded together with the file: no type, and not `import()`. */
  readonly isStatic: boolean
}

/** The first folder of a path; each door of the sidecar is a room of its own. */
const roomOf = (path: string) =>
  path
    .split('/')
    .slice(0, path.startsWith('sidecar/') ? 2 : 1)
    .join('/')

/** A file by its place in `src`, that of the emulator as if it were a room there. */
const placeOf = (path: string) => path.replace(/^src\//, '').replace(/^packages\/emulator\/src\//, 'emulator/')

const imports: Import[] = globSync(['src/**/*.ts', 'packages/*/src/**/*.ts'], { cwd: root }).flatMap((path) => {
  const text = readFileSync(resolve(root, path), 'utf8')
  const file = placeOf(path)
  const found = text.matchAll(/(?:^(import type)\b[^'(]*)?(?:from|import)\s*(\()?\s*'([^']+)'/gm)
  return [...found].map(([, type, call, specifier = '']) => ({
    file,
    room: roomOf(file),
    isStatic: type === undefined && call === undefined,
    target: specifier.startsWith('.') ? placeOf(relative(root, resolve(root, dirname(path), specifier))) : specifier,
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

it.each(['index.ts', 'binding/sides/output-side.ts', 'binding/sides/pull-side.ts'])(
  "loads Entra's libraries with %s only where a token is asked for",
  (door) => {
    const loaded = new Set([door])
    for (const file of loaded) for (const one of imports) if (one.isStatic && one.file === file) loaded.add(one.target)
    expect([...loaded]).toContain('support/text/text.ts')
    expect([...loaded].filter((one) => ['@azure/identity', '@azure/msal-node'].includes(one))).toEqual([])
  },
)

it('keeps the arrows between the rooms of the emulator pointing down', () => {
  const inner = own.filter(({ room, target }) => room === 'emulator' && roomOf(target) === 'emulator')
  const innerRoomOf = (path: string) => path.split('/')[1] ?? path
  const wrong = inner.filter(({ file, target }) => {
    const from = innerRoomOf(file)
    const to = innerRoomOf(target)
    return to !== from && !from.endsWith('.ts') && !emulatorRooms[from]?.includes(to)
  })
  expect(wrong).toEqual([])
})

/** The first circle that arrows make, as the way around it; undefined where there is none. */
function circleOf(arrows: readonly { readonly from: string; readonly to: string }[]): readonly string[] | undefined {
  const from = Map.groupBy(arrows, (arrow) => arrow.from)
  const done = new Set<string>()
  const circleAt = (node: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node]
    if (done.has(node)) return undefined
    for (const { to } of from.get(node) ?? []) {
      const circle = circleAt(to, [...path, node])
      if (circle) return circle
    }
    done.add(node)
    return undefined
  }
  for (const node of from.keys()) {
    const circle = circleAt(node, [])
    if (circle) return circle
  }
  return undefined
}

it('has no circle of imports, not even for a type', () => {
  expect(circleOf(own.map(({ file, target }) => ({ from: file, to: target })))).toBeUndefined()
})

// A folder puts together what is in the folders inside it, and holds what they share, so these two may import each other.
const contains = (folder: string, other: string) => folder === other || other.startsWith(`${folder}/`)

it('has no circle between folders', () => {
  const arrows = own
    .map(({ file, target }) => ({ from: dirname(file), to: dirname(target) }))
    .filter(({ from, to }) => !contains(from, to) && !contains(to, from))
  expect(circleOf(arrows)).toBeUndefined()
})

it('lets nothing in src import a front door', () => {
  expect(own.filter(({ target }) => target === 'index.ts')).toEqual([])
})

it('has run and serve reach a component as every host does: by the descriptor and its types', () => {
  const exported = ['binding/component.ts', 'binding/binding-component.ts', 'binding/health.ts']
  const doors = ['sidecar/host', 'sidecar/pluggable']
  const wrong = own.filter(
    ({ room, target }) => doors.includes(room) && roomOf(target) === 'binding' && !exported.includes(target),
  )
  expect(wrong).toEqual([])
})

it('keeps each outside package in the rooms that are made for it', () => {
  const wrong = imports.filter(({ room, target }) =>
    Object.entries(packageRooms).some(
      ([name, rooms]) => (target === name || target.startsWith(`${name}/`)) && !rooms.includes(room),
    ),
  )
  expect(wrong).toEqual([])
})

it.each(['.', 'packages/emulator'])('has the tests of a file of src in the same folder of test, in %s', (home) => {
  const files = globSync('test/**/*.{ts,yaml}', { cwd: resolve(root, home) })
  const folders = new Set(files.map((file) => relative('test', dirname(file))))
  const ofRooms = [...folders].filter((folder) => !suites.some((suite) => `${folder}/`.startsWith(`${suite}/`)))
  expect(ofRooms.filter((folder) => !existsSync(resolve(root, home, 'src', folder)))).toEqual([])
})

it('keeps the words of Azure and Event Grid out of support', () => {
  const wrong = globSync('src/support/**/*.ts', { cwd: root }).filter((file) =>
    /aeg-|\/api\/events|Microsoft\.EventGrid|azure|event ?grid/i.test(
      // The names of the packages may be said.
      readFileSync(resolve(root, file), 'utf8').replaceAll(/eventgrid-(binding|emulator)/g, ''),
    ),
  )
  expect(wrong).toEqual([])
})
