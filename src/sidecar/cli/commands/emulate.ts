/** The command `emulate` is the emulator's own command line, by its name here. */
import { emulateCommand } from '../../../../packages/emulator/src/cli/emulate.ts'

export const { help, run } = emulateCommand({ bin: 'eventgrid-binding', command: 'emulate' })
