/** The emulator answers as Azure does on record: each file in this folder, which `npm run test:azure -- --record DIR` wrote. */
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { playRecording, recordingForm, unplayable } from './play-recording.ts'

const files = globSync('*.json', { cwd: import.meta.dirname }).toSorted()

it.each(files)('answers as on record: %s', async (file) => {
  const recording = recordingForm.parse(JSON.parse(readFileSync(join(import.meta.dirname, file), 'utf8')))
  expect(unplayable(recording)).toBeUndefined()
  expect(await playRecording(recording)).toEqual([])
})
