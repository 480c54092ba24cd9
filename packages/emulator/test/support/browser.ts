import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import { type Browser, chromium } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome']

/** Where a Chromium is, if there is one on the PATH. */
export const browserPath: string | undefined = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => names.map((name) => join(folder, name)))
  .find(isExecutable)

/** Whether tests in a browser can be left out: there is none, and EVENTGRID_BROWSER=required doesn't ask for one. */
export const browserMissing = browserPath === undefined && process.env.EVENTGRID_BROWSER !== 'required'

/** Starts it without a window, and with nothing that it would fetch by itself. */
export function launchBrowser(): Promise<Browser> {
  if (browserPath === undefined) throw new Error(`There is no browser on the PATH: none of ${names.join(', ')}.`)
  return chromium.launch({
    executablePath: browserPath,
    timeout: 150_000,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}
