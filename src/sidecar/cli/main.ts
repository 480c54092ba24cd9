#!/usr/bin/env node
/** The file that npm starts as `eventgrid-binding`. */
import { startProgram } from '../../support/command-line/start-program.ts'

startProgram(import.meta.url, 'eventgrid-binding', () => import('./program.ts'))
