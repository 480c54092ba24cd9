import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { browserMissing, launchBrowser } from '../../support/browser.ts'
import { openShop, showPage } from './open-page.ts'

describe.skipIf(browserMissing)('what the page says in Chromium (skipped where none is on the PATH)', () => {
  let browser: Browser
  let page: Page

  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ timezoneId: 'UTC' })
    page.setDefaultTimeout(10_000)
    await page.clock.install()
  }, 180_000)
  afterAll(() => browser?.close())

  const webhook = (name: string) => ({
    endpointType: 'WebHook',
    properties: { endpointUrl: `https://shop.example.com/${name}` },
  })
  const cloudEvents = { eventDeliverySchema: 'CloudEventSchemaV1_0' }

  it('keeps each fate with its own event subscription while time passes, in the list and in the dialog', async () => {
    const scope = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
    const { emulator, subscriber } = await openShop({
      systemTopics: [{ name: 'uploads', source: scope }],
      eventSubscriptions: [
        { name: 'refuses', scope, properties: { destination: webhook('refuses'), ...cloudEvents } },
        { name: 'takes', scope, properties: { destination: webhook('takes'), ...cloudEvents } },
        { name: 'waits', scope, properties: { destination: webhook('waits'), ...cloudEvents } },
      ],
    })
    subscriber.answerTo('/refuses', { status: 400 })
    subscriber.answerTo('/waits', { status: 503 })
    await showPage(page, emulator)
    emulator.raise(scope, [{ specversion: '1.0', id: 'one', source: scope, type: 'Shop.Placed', subject: 'x' }])
    const told = [/^refuses dropped: the answer was 400$/, /^takes delivered · /, /^waits 503 · try 2 in /]
    const row = page.locator('#events tr')
    for (const text of told) await row.locator('.fate', { hasText: text }).waitFor()
    await row.click()
    for (const text of told) await page.locator('#detail h3 .fate', { hasText: text }).waitFor()
    // Each second the page counts the time down that is left to the next tries.
    await page.clock.runFor(2_000)
    for (const list of [row, page.locator('#detail h3')]) {
      const texts = await list.locator('.fate').allInnerTexts()
      expect(texts).toEqual(told.map((text) => expect.stringMatching(text)))
    }
  })
})
