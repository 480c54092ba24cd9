import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { readPaths } from '../../../src/metadata/component/component-folder.ts'
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
