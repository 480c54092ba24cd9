/** `npm run docs:facts`: writes into the facts table what the reports in test/azure/reports have seen on Azure. */
import { readFileSync, writeFileSync } from 'node:fs'
import { factsFile } from './facts-table.ts'
import { readReports } from './reports.ts'
import { withSeen } from './seen.ts'

writeFileSync(factsFile, withSeen(readFileSync(factsFile, 'utf8'), readReports()))
