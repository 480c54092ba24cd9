#!/usr/bin/env node
/** The file that npm starts as `eventgrid-emulator`. */
import { startProgram } from '../../../../src/support/command-line/start-program.ts'

startProgram(import.meta.url, 'eventgrid-emulator', () => import('./program.ts'))
