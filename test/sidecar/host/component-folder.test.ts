import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished, vi } from 'vitest'
import { readPaths } from '../../../src/metadata/component/component-folder.ts'
import { watchState } from '../../../src/support/time/clock.ts'
import { makeComponentFolder } from '../../support/component-folder.ts'

const textsOf = async (folder: string) => (await readPaths([folder])).texts

it('reads the YAML files of a folder in the order of their names, and nothing else', async () => {
  const folder = makeComponentFolder()
  for (const name of ['b.yml', 'a.yaml', 'notes.txt', 'c.YAML', '.#a.yaml']) folder.write(name, name)
  const texts = await textsOf(folder.path)
  expect([...texts.values()]).toEqual(['a.yaml', 'b.yml', 'c.YAML'])
})

it('leaves out what is gone, and a folder with the name of a file, and says so', async () => {
  const folder = makeComponentFolder()
  symlinkSync('gone.yaml', join(folder.path, 'a.yaml'))
  folder.write('b.yaml', 'b')
  mkdirSync(join(folder.path, 'c.yaml'))
  mkdirSync(join(folder.path, 'folder'))
  const { texts, issues, notes } = await readPaths([folder.path])
  expect([[...texts.values()], issues]).toEqual([['b'], []])
  expect(notes).toEqual([
    `${join(folder.path, 'a.yaml')} is gone, or a link that leads nowhere: left out`,
    `${join(folder.path, 'c.yaml')} is a folder: left out`,
  ])
  const alone = await readPaths([join(folder.path, 'a.yaml')])
  expect(alone.issues).toMatchObject([{ kind: 'unreadable', at: { file: join(folder.path, 'a.yaml'), line: 1 } }])
})

it('says of a pipe, a device and a socket that they are no files to read, and reads the others', async () => {
  const folder = makeComponentFolder()
  execFileSync('mkfifo', [join(folder.path, 'a.yaml')])
  folder.write('b.yaml', 'b')
  symlinkSync('/dev/zero', join(folder.path, 'c.yaml'))
  const socket = createServer().listen(join(folder.path, 'd.yaml'))
  await once(socket, 'listening')
  onTestFinished(() => void socket.close())
  const texts = await textsOf(folder.path)
  const isPipe = expect.objectContaining({ message: 'it is a pipe, a socket or a device, not a regular file' })
  expect([...texts.values()]).toEqual([isPipe, 'b', expect.any(Error), expect.any(Error)])
})

it('reads a thousand files, and no more', async () => {
  const folder = makeComponentFolder()
  for (let file = 1; file <= 1_000; file++) folder.write(`${file}.yaml`, '')
  expect((await textsOf(folder.path)).size).toBe(1_000)
  folder.write('1001.yaml', '')
  const { issues } = await readPaths([folder.path])
  expect(issues).toMatchObject([{ at: { file: folder.path }, rule: expect.stringMatching(/over 1000/) }])
})

/** What `changed` is called with while one state after another is seen. */
function changesOf(states: readonly (string | Error)[]): Promise<readonly string[]> {
  const changes: string[] = []
  return new Promise((resolve) => {
    let looks = 0
    const stop = watchState<string>({
      known: 'old',
      intervalMs: 1,
      async read() {
        const state = states[looks++]
        if (state instanceof Error) throw state
        if (state !== undefined) return state
        void stop()
        resolve(changes)
        return changes.at(-1) ?? 'old'
      },
      async changed(state) {
        changes.push(state)
      },
    })
  })
}

it.each([
  { name: 'once it has stood still', states: ['old', 'new', 'new', 'new'], expected: ['new'] },
  { name: 'not for what lasts a moment', states: ['', 'new', 'new'], expected: ['new'] },
  { name: 'not where it comes back to what it was', states: ['new', 'old', 'old'], expected: [] },
  { name: 'not for a look that fails', states: [new Error('gone'), new Error('gone'), 'old'], expected: [] },
  { name: 'for each change', states: ['a', 'a', 'b', 'b'], expected: ['a', 'b'] },
])('tells of a change $name', async ({ states, expected }) => {
  expect(await changesOf(states)).toEqual(expected)
})

it('tells of no change once it is stopped, and waits for the one that it has told of', async () => {
  vi.useFakeTimers()
  onTestFinished(() => void vi.useRealTimers())
  const told: string[] = []
  const taken = Promise.withResolvers<void>()
  let read = async () => 'new'
  const watch = () =>
    watchState<string>({
      known: 'old',
      intervalMs: 10,
      read: () => read(),
      changed(state) {
        told.push(state)
        return taken.promise
      },
    })
  const stop = watch()
  await vi.advanceTimersByTimeAsync(20)
  read = async () => 'newer'
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['new'])
  const stopped = stop().then(() => told.push('stopped'))
  await vi.advanceTimersByTimeAsync(100)
  expect(told).toEqual(['new'])
  taken.resolve()
  await stopped
  expect([told, vi.getTimerCount()]).toEqual([['new', 'stopped'], 0])

  const stopWithinLook = watch()
  await vi.advanceTimersByTimeAsync(10)
  const seen = Promise.withResolvers<string>()
  read = () => seen.promise
  await vi.advanceTimersByTimeAsync(10)
  const ended = stopWithinLook()
  seen.resolve('newer')
  await ended
  await vi.advanceTimersByTimeAsync(100)
  expect([told, vi.getTimerCount()]).toEqual([['new', 'stopped'], 0])
})
