import { exec } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { promisify } from 'node:util'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startEmulator } from '../../../../test/support/start-emulator.ts'
import { browserMissing, launchBrowser } from '../support/browser.ts'
import { openShop, shopSecrets, shopWebhook, showPage, tabTo } from './open-page.ts'

describe.skipIf(browserMissing)('the emulator’s page in Chromium (skipped where none is on the PATH)', () => {
  let browser: Browser
  let page: Page

  // The first start of Chromium on a machine reads 300 MB, beside all other tests.
  beforeAll(async () => {
    browser = await launchBrowser()
    page = await browser.newPage({ timezoneId: 'UTC' })
    page.setDefaultTimeout(10_000)
  }, 180_000)
  afterAll(() => browser?.close())

  it('shows topics, and event subscriptions with their state, handshake and filter', async () => {
    const { emulator } = await openShop({}, { filter: { includedEventTypes: ['Shop.OrderPlaced'] } })
    await showPage(page, emulator)
    const subscription = page.locator('#subscriptions li', { hasText: 'billing' })
    await subscription.locator('.state', { hasText: 'Succeeded' }).waitFor()
    await subscription.locator('summary').click()
    const told = await subscription.locator('dl').innerText()
    expect(told).toMatch(/validated \(OPTIONS, 200\)/)
    expect(told).toContain('type is Shop.OrderPlaced')
    expect(told).toContain('x-shop: (redacted)')
    expect(await subscription.locator('.where').innerText()).toBe(
      'orders → https://shop.example.com/billing?(redacted)',
    )
    emulator.addTopic({ name: 'returns' })
    await page.locator('#topics li', { hasText: 'returns' }).waitFor()
    expect(await page.locator('#topic-count').innerText()).toBe('2')
  })

  it('follows an event live while its delivery is tried again and dead-lettered, and says when and why', async () => {
    const { emulator, clock, subscriber, publish } = await openShop({}, { retryPolicy: { maxDeliveryAttempts: 2 } })
    await showPage(page, emulator)
    subscriber.answer({ status: 503 }, { status: 503 })
    await publish({ subject: 'orders/4711' })
    const row = page.locator('#events tr', { hasText: 'orders/4711' })
    const fate = row.locator('.fate')
    await fate.filter({ hasText: /^billing 503 · try 2 in \d+ s$/ }).waitFor()
    await clock.advance(60_000)
    await fate.filter({ hasText: 'billing to be dead-lettered: too many tries (503)' }).waitFor()
    await clock.advance(3_600_000)
    await fate.filter({ hasText: 'billing dead-lettered: too many tries (503)' }).waitFor()
    for (const [name, count] of [
      ['published', '1'],
      ['failed', '2'],
      ['deadLettered', '1'],
      ['pending', '0'],
    ]) {
      await page.locator(`[data-total="${name}"]`, { hasText: new RegExp(`^${count}$`) }).waitFor()
    }
  })

  it('shows body, headers and every try of the event that is clicked, and no secret', async () => {
    const { emulator, clock, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    subscriber.answer({ status: 503 })
    await publish({ data: { amount: 129.5 }, subject: 'orders/4711' })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await page.locator('#events tr').click()
    const dialog = page.locator('#detail')
    await dialog.locator('summary', { hasText: 'Try 1' }).waitFor()
    // It stays up to date while it is open.
    await clock.advance(60_000)
    await dialog.locator('summary', { hasText: /^Try 2 .* 200/ }).waitFor()
    const tries = dialog.locator('details')
    expect(await tries.count()).toBe(2)
    // What was open stays open.
    expect(await dialog.locator('details[open]').count()).toBe(2)
    expect(await dialog.locator('pre').first().innerText()).toMatch(/"amount": 129.5/)
    // The newest try is open by itself.
    const headers = await tries.first().locator('table').first().innerText()
    expect(headers).toMatch(/aeg-event-type\s+Notification/i)
    expect(headers).toMatch(/x-shop\s+\(redacted\)/i)
    // The body of the event is there once, and each try shows its answer.
    expect(await dialog.getByText('129.5').count()).toBe(1)
    expect(await tries.first().locator('table').nth(1).innerText()).toMatch(/^Answer: 200[\s\S]*date\s/)
    const all = await page.content()
    for (const secret of [...Object.values(shopSecrets), emulator.clientSecret, emulator.topic().key]) {
      expect(all).not.toContain(secret)
    }
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'hidden' })
  })

  it('shows the beginning of the answer of a try', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    const body = `{"reason": "closed on Sundays", "more": "${'x'.repeat(5000)}"}`
    subscriber.answer({ status: 400, headers: { 'x-shop-state': 'closed', 'set-cookie': 'session=swordfish' }, body })
    await publish({})
    await page.locator('#events tr').click()
    const answer = page.locator('#detail').getByRole('region', { name: 'The answer to try 1' })
    expect(await answer.innerText()).toContain('closed on Sundays')
    expect((await answer.innerText()).length).toBe(4096)
    const headers = await page.locator('#detail table', { hasText: 'Answer: 400' }).innerText()
    expect(headers).toMatch(/x-shop-state\s+closed/)
    expect(headers).toMatch(/set-cookie\s+\(redacted\)/)
  })

  it('delivers an event once more, and copies a try as a curl command', async () => {
    const { emulator, clock, subscriber, publish } = await openShop()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await showPage(page, emulator)
    subscriber.answer({ status: 400 })
    await publish({ id: 'o-1', data: { note: "it's new" } })
    await page.locator('.fate[data-state="given up"]').waitFor()
    await page.locator('#events tr').click()
    const redeliver = page.getByRole('button', { name: 'Redeliver' })
    // It is not dead-lettered yet.
    expect(await redeliver.getAttribute('aria-disabled')).toBe('true')
    await clock.advance(3_600_000)
    await page.locator('#detail .fate[data-state="dead-lettered"]').waitFor()
    await redeliver.click()
    await page.locator('#detail .fate[data-state="delivered"]').waitFor()
    await page.locator('#detail button:focus', { hasText: 'Redeliver' }).waitFor()
    expect(subscriber.deliveries().map(({ body }) => JSON.parse(body).id)).toEqual(['o-1', 'o-1'])

    await page.getByRole('button', { name: 'Copy as curl' }).first().click()
    await page.getByText('Copied, but without its query, the header x-shop').waitFor()
    const curl = await page.evaluate<string>('navigator.clipboard.readText()')
    await promisify(exec)(curl)
    const [, sent, copied] = subscriber.deliveries()
    expect(copied?.body).toBe(sent?.body)
    expect(copied?.headers['aeg-subscription-name']).toBe('BILLING')
    expect(copied?.headers.host).toBe('shop.example.com')
    // The page does not know it.
    expect(copied?.headers).not.toHaveProperty('x-shop')
  })

  it('leads to an event by its address', async () => {
    const { emulator, publish } = await openShop()
    await publish({ id: 'a/1 & 2', subject: 'orders/4711' }, { id: 'another' })
    await emulator.idle()
    await showPage(page, emulator)
    await page.locator('#events tr', { hasText: 'orders/4711' }).click()
    const link = await page.getByRole('link', { name: 'Link to this event' }).getAttribute('href')
    await page.waitForURL(`${emulator.proxy}/${link}`)
    await page.getByRole('button', { name: 'Close' }).click()
    await page.waitForURL(`${emulator.proxy}/`)
    // A new document, as in another window.
    await page.goto('about:blank')
    await page.goto(`${emulator.proxy}/${link}`)
    await page.locator('#detail dd', { hasText: 'a/1 & 2' }).waitFor()
  })

  it('finds events by their bodies, those too that come while it searches', async () => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    await publish({ subject: 'one', data: { note: 'Purple' } }, { subject: 'two' })
    await page.locator('#events tr', { hasText: 'one' }).waitFor()
    await page.locator('#filter-text').fill('purple')
    const rows = page.locator('#events tr:visible')
    await rows.filter({ hasText: 'one' }).waitFor()
    await publish({ subject: 'three', data: { note: 'purple too' } })
    await rows.filter({ hasText: 'three' }).waitFor()
    expect(await rows.count()).toBe(2)
  })

  it('shows no counts until it is connected', async () => {
    const { emulator } = await openShop()
    await page.route('**/emulator/stream', () => {})
    await page.goto(emulator.proxy, { waitUntil: 'commit' })
    await page.locator('#connection', { hasText: 'Connecting…' }).waitFor()
    expect(new Set(await page.locator('[data-total]').allInnerTexts())).toEqual(new Set(['–']))
    expect(await page.locator('#no-events').innerText()).toBe('Connecting…')
    await page.goto('about:blank')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it.each([
    { device: 'a desk', width: 1280, height: 800 },
    { device: 'a phone', width: 390, height: 844 },
  ])('keeps the form to publish within reach on $device, however many events there are', async ({ width, height }) => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    await page.setViewportSize({ width, height })
    await publish(...Array.from({ length: 300 }, (_, index) => ({ subject: `orders/${index}` })))
    await page.locator('[data-total="published"]', { hasText: '300' }).waitFor()
    expect(await page.evaluate('document.documentElement.scrollHeight')).toBeLessThan(2.5 * height)
    await page.locator('#events tr').last().scrollIntoViewIfNeeded()
    const top = await page.evaluate<number>('document.querySelector("#publish").getBoundingClientRect().top')
    expect(top).toBeLessThan(1.5 * height)
    if (width > 960) expect(top).toBeGreaterThan(0)
  })

  it('shows the queues of namespace topics with what is in them', async () => {
    const { emulator } = await openShop({
      namespaces: [{ name: 'shop', topics: [{ name: 'parcels', eventSubscriptions: [{ name: 'packing' }] }] }],
    })
    await showPage(page, emulator)
    const { endpoint, key, namespaceEndpoint } = emulator.namespaceTopic('parcels')
    const send = (url: string, type: string, body: unknown) =>
      fetch(`${url.replace(emulator.endpoints.topics, emulator.proxy)}?api-version=2024-06-01`, {
        method: 'POST',
        headers: { authorization: `SharedAccessKey ${key}`, 'content-type': type },
        body: JSON.stringify(body),
      })
    const parcel = { specversion: '1.0', source: '/shop', type: 'parcel.packed', data: {} }
    const events = ['1', '2', '3'].map((id) => ({ ...parcel, id }))
    expect((await send(endpoint, 'application/cloudevents-batch+json; charset=utf-8', events)).status).toBe(200)
    const queue = page.getByRole('region', { name: 'Queues of namespace topics' }).getByRole('listitem')
    await queue.filter({ hasText: /packing\s*shop\/parcels · 3 available, 0 locked/ }).waitFor()
    // Looking into the queue takes nothing from it, and its events are among the others.
    await queue.locator('summary').click()
    await queue.getByRole('button', { name: 'Look inside' }).click()
    await queue.locator('li', { hasText: 'parcel.packed 1 · available · received 0 ×' }).waitFor()
    const row = page.locator('#events tr').last()
    await row.filter({ hasText: /packing\s+available$/ }).waitFor()
    const queueUrl = `${namespaceEndpoint}/topics/parcels/eventsubscriptions/packing`
    const received = await send(`${queueUrl}:receive`, 'application/json', {})
    const [, lockToken = ''] = /"lockToken": ?"([^"]+)"/.exec(await received.text()) ?? []
    await queue.filter({ hasText: '2 available, 1 locked' }).waitFor()
    await row.filter({ hasText: /locked for \d+ s · received 1 ×/ }).waitFor()
    await send(`${queueUrl}:reject`, 'application/json', { lockTokens: [lockToken] })
    await row.filter({ hasText: 'dropped: its receiver rejected it' }).waitFor()
    await queue.locator('dl', { hasText: /Locked\s*0[\s\S]*Dead-lettered\s*1/ }).waitFor()
    const topic = page.locator('#topics > li').filter({ hasText: /shop\/parcels\s*namespace topic/ })
    await topic.locator('summary').click()
    await topic.locator('dl', { hasText: endpoint }).waitFor()
    await page.locator('#topic').selectOption('shop/parcels')
    await page.locator('#publish button').click()
    await page.locator('#published', { hasText: 'Accepted' }).waitFor()
    await queue.filter({ hasText: '3 available' }).waitFor()
  })

  it('shows a domain with its topics, and a system topic with its source', async () => {
    const source = '/subscriptions/1/resourceGroups/rg/providers/Microsoft.Storage/storageAccounts/photos'
    const { emulator } = await openShop({ domains: [{ name: 'shop' }], systemTopics: [{ name: 'uploads', source }] })
    await showPage(page, emulator)
    const topics = page.locator('#topics > li')
    const domain = topics.filter({ hasText: /shop\s*domain, CloudEvents/ })
    await domain.locator('summary').click()
    await domain.locator('dl', { hasText: /Topics\s*none/ }).waitFor()
    const systemTopic = topics.filter({ hasText: /uploads\s*system topic/ })
    await systemTopic.locator('summary').click()
    await systemTopic.locator('dl', { hasText: source }).waitFor()
  })

  it('names its parts for a screen reader', async () => {
    const { emulator, publish } = await openShop()
    await publish({ subject: 'orders/4711' })
    await emulator.idle()
    await showPage(page, emulator)
    for (const [role, name] of [
      ['banner', undefined],
      ['main', undefined],
      ['complementary', undefined],
      ['status', undefined],
      ['table', 'The latest events, newest first'],
      ['columnheader', 'Result'],
      ['searchbox', 'Find by type, subject, id or body'],
      ['combobox', 'Status'],
      ['button', 'Shop.OrderPlaced'],
      ['region', 'Publish'],
      ['region', 'Event subscriptions'],
      ['region', 'Counts since the start'],
    ] as const) {
      await page
        .getByRole(role, { ...(name !== undefined && { name }) })
        .first()
        .waitFor()
    }
    await page.getByRole('button', { name: 'Shop.OrderPlaced' }).click()
    const dialog = page.getByRole('dialog', { name: 'Shop.OrderPlaced' })
    await dialog.getByRole('region', { name: 'The event’s body' }).waitFor()
    await dialog.getByRole('table', { name: 'Answer: 200' }).waitFor()
  })

  it('publishes a sample, tells what the topic refuses, and what is no JSON before it is sent', async () => {
    const { emulator, subscriber } = await openShop()
    await showPage(page, emulator)
    const [result, event] = [page.locator('#published'), page.locator('#event')]
    const submit = page.locator('#publish button')
    await page.locator('#sample').selectOption({ label: 'A reading' })
    await submit.click()
    await result.filter({ hasText: 'Accepted' }).waitFor()
    await page.locator('#events tr', { hasText: 'Greenhouse.TemperatureMeasured' }).waitFor()
    await subscriber.received(1)

    await event.fill('{"specversion": "1.0", "type": "no source"}')
    await submit.click()
    await result.filter({ hasText: /^400 BadRequest: .*source/ }).waitFor()

    await event.fill('{"specversion": ')
    await submit.click()
    await result.filter({ hasText: /^This is not JSON: / }).waitFor()
    expect(emulator.records.requests.all().filter(({ url }) => url.includes('/topics/'))).toHaveLength(2)
  })

  it('is used by keyboard alone', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await publish({ subject: 'orders/4711' })
    await emulator.idle()
    await showPage(page, emulator)
    const { keyboard } = page
    await tabTo(page, '.skip')
    await keyboard.press('Enter')
    await tabTo(page, '#filter-text')
    await keyboard.type('nothing like it')
    await page.locator('#no-events', { hasText: 'No event matches' }).waitFor()
    await keyboard.press('Control+A')
    await keyboard.type('4711')
    await tabTo(page, '#pause')
    await keyboard.press('Space')
    await page.locator('#pause[aria-pressed="true"]').waitFor()
    await tabTo(page, '#events button')
    await keyboard.press('Enter')
    await page.locator('#detail summary', { hasText: 'Try 1' }).waitFor()
    await tabTo(page, '#detail [data-focus^=redeliver]')
    await keyboard.press('Enter')
    await expect.poll(() => subscriber.deliveries()).toHaveLength(2)
    await page.locator('#detail details').nth(1).waitFor()
    await tabTo(page, '#detail summary')
    await keyboard.press('Enter')
    await page.locator('#detail details:not([open])').waitFor({ state: 'attached' })
    await keyboard.press('Enter')
    await tabTo(page, '#detail [data-focus^=curl]')
    await keyboard.press('Enter')
    await page.locator('#detail output', { hasText: 'Copied' }).waitFor()
    expect(await page.evaluate<string>('navigator.clipboard.readText()')).toMatch(/^curl -i /)
    await keyboard.press('Escape')
    await page.locator('#events button:focus').waitFor()
    await tabTo(page, '#sample')
    await keyboard.press('ArrowDown')
    await tabTo(page, '#event')
    await keyboard.press('Control+Enter')
    await page.locator('#published', { hasText: 'Accepted' }).waitFor()
    await tabTo(page, '#subscriptions summary')
    await keyboard.press('Enter')
    await page.locator('#subscriptions details[open]').waitFor()
    await page.keyboard.press('Control+Home')
    await tabTo(page, '.skip')
    await keyboard.press('Tab')
    await keyboard.press('Enter')
    await tabTo(page, '#topic')
    expect(await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')).toBe('solid')
  })

  it('needs no scrolling sideways in a narrow window', async () => {
    const { emulator, publish } = await openShop()
    await publish({ type: `Shop.${'Long'.repeat(60)}`, subject: 'x'.repeat(400) })
    await showPage(page, emulator)
    await page.locator('#events tr').waitFor()
    await page.locator('#subscriptions summary').click()
    for (const width of [320, 800, 1280]) {
      await page.setViewportSize({ width, height: 700 })
      expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(width)
    }
  })

  it('stays quick and small with ten thousand events', async () => {
    const { emulator, publish } = await openShop(
      {},
      {
        destination: {
          endpointType: 'WebHook',
          properties: {
            endpointUrl: 'https://shop.example.com/',
            maxEventsPerBatch: 5000,
            preferredBatchSizeInKilobytes: 1024,
          },
        },
      },
    )
    await showPage(page, emulator)
    await page.evaluate(`longest = 0; new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) longest = Math.max(longest, duration)
    }).observe({ type: 'longtask' })`)
    const five = Array.from({ length: 5000 }, (_, index) => ({ subject: `orders/${index}` }))
    await publish(...five)
    await publish(...five)
    await publish({ subject: 'the last one' })
    await page.locator('[data-total="delivered"]', { hasText: '10,001' }).waitFor()
    await page.locator('#filter-text').fill('the last')
    await page.locator('#events tr:visible .fate[data-state="delivered"]').waitFor()
    expect(await page.locator('#events tr').count()).toBeLessThanOrEqual(400)
    expect(await page.evaluate('document.querySelectorAll("*").length')).toBeLessThan(6000)
    expect(await page.evaluate('longest')).toBeLessThan(2000)
  })

  it('has no term without a value, and no value under another term', async () => {
    const { emulator, publish } = await openShop({}, { destination: shopWebhook })
    await publish({ subject: 'delivered' })
    await showPage(page, emulator)
    await page.locator('#subscriptions summary').click()
    const facts = () =>
      page.evaluate<string[][]>(`[...document.querySelectorAll('.facts')].map((list) =>
        [...list.children].map((one, index, all) => one.localName + (one.textContent === 'false' ? ' false' : '')
          + (one.localName === 'dt' && all[index + 1]?.localName !== 'dd' ? ' alone' : '')))`)
    await page.locator('#events tr .fate[data-state="delivered"]').click()
    await page.locator('#detail .try').waitFor()
    expect((await facts()).flat().filter((one) => one !== 'dt' && one !== 'dd')).toEqual([])
    expect(await page.locator('#subscriptions dt').allInnerTexts()).not.toContain('Headers')
    expect(await page.locator('#detail dt').allInnerTexts()).not.toContain('Next try')
  })

  it('says that a curl command has only the beginning of a long body', async () => {
    const { emulator, publish } = await openShop({}, { destination: shopWebhook })
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await publish({ subject: 'long', data: 'x'.repeat(20_000) }, { subject: 'short' })
    await showPage(page, emulator)
    for (const [subject, told] of [
      ['long', 'Copied, but without the end of its body'],
      ['short', 'Copied'],
    ] as const) {
      await page.locator('#events tr', { hasText: subject }).click()
      await page.locator('#detail').getByRole('button', { name: 'Copy as curl' }).click()
      await page.locator('#detail output').getByText(told, { exact: true }).waitFor()
      await page.getByRole('button', { name: 'Close' }).click()
    }
  })

  it('tries an event at once that waits for its next try, and no other', async () => {
    const { emulator, subscriber, publish } = await openShop({ retrySchedule: [3_600_000] })
    await showPage(page, emulator)
    subscriber.answer({ status: 503 }, { status: 503 })
    await publish({ id: 'one', subject: 'one' }, { id: 'two', subject: 'two' })
    await page.locator('#events .fate[data-state="waiting"]').nth(1).waitFor()
    await page.locator('#events tr', { hasText: 'two' }).click()
    await page.locator('#detail').getByRole('button', { name: 'Try now' }).click()
    await page.locator('#detail .fate[data-state="delivered"]').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.locator('#events tr', { hasText: 'one' }).locator('.fate[data-state="waiting"]').waitFor()
    const ids = subscriber.deliveries().map(({ body }) => JSON.parse(body).id)
    expect([ids.length, ids.at(-1)]).toEqual([3, 'two'])
  })

  it('shows hostile content as text', async () => {
    const hostile = '</td><img src=x onerror="hacked=1"><script>hacked=1</script>'
    const { emulator, publish } = await openShop(
      {},
      { filter: { subjectBeginsWith: '</td>', subjectEndsWith: '<script>hacked=1</script>' } },
    )
    await publish({ id: hostile, type: hostile, subject: hostile, data: { [hostile]: hostile } })
    await showPage(page, emulator)
    await page.locator('#events tr', { hasText: hostile }).click()
    await page.locator('#detail-title', { hasText: hostile }).waitFor()
    expect(await page.locator('#detail pre').first().innerText()).toContain('onerror=')
    expect(await page.locator('[onerror], #events img, dialog img, main script, dialog script').count()).toBe(0)
    expect(await page.evaluate('typeof hacked')).toBe('undefined')
  })

  it('lists refused publishes with their topic and reason, and counts them', async () => {
    const { emulator } = await openShop()
    await showPage(page, emulator)
    const { httpEndpoint, key } = emulator.topic('orders')
    const send = (url: string, sent: string, body: string) =>
      fetch(url, { method: 'POST', headers: { 'aeg-sas-key': sent, 'content-type': 'application/json' }, body })
    await send(httpEndpoint, 'c3dvcmRmaXNo', '[]')
    await send(httpEndpoint, key, '{')
    await send(httpEndpoint.replace('orders', 'nowhere'), key, '[]')
    await send(httpEndpoint, key, 'x'.repeat(2 * 1024 * 1024)).catch(() => {})
    await send(`${emulator.proxy}/api/event`, key, '[]')
    await page.locator('[data-total="refused"]', { hasText: '5' }).waitFor()
    const rows = page.getByRole('region', { name: 'Refused publishes' }).locator('tbody tr')
    const told = await rows.allInnerTexts()
    expect(
      told.map((row) =>
        row
          .split(/\s+/)
          .slice(1, 2)
          .concat(/nowhere|orders|\/api\/event\b/.exec(row) ?? []),
      ),
    ).toEqual([
      ['404', '/api/event'],
      ['413', 'orders'],
      ['404', 'nowhere'],
      ['400', 'orders'],
      ['401', 'orders'],
    ])
    expect(told.join()).not.toContain('c3dvcmRmaXNo')
  })

  it('shows an event that no event subscription matches, its source, its topic, and keeps long texts in their column', async () => {
    const { emulator, publish } = await openShop({}, { filter: { includedEventTypes: ['Shop.OrderPaid'] } })
    await showPage(page, emulator)
    await page.setViewportSize({ width: 1440, height: 800 })
    await publish({ subject: 'x'.repeat(300), source: '/shop/web' })
    const row = page.locator('#events tr', { hasText: 'no event subscription matches' })
    expect(await row.locator('.source').innerText()).toBe('/shop/web')
    expect(await row.locator('.topic').innerText()).toBe('orders')
    expect(
      await row.evaluate((one) =>
        [...one.querySelectorAll('td')].every((cell) => cell.scrollWidth <= cell.clientWidth && cell.clientHeight < 80),
      ),
    ).toBe(true)
    expect(await page.locator('#topics summary').first().innerText()).toMatch(/^orders CloudEvents/)
  })

  it('says of a held-back endpoint until when, and tries one event or all at once on request', async () => {
    const { emulator, subscriber, publish } = await openShop({ probation: { afterFailures: 3 } })
    await showPage(page, emulator)
    subscriber.answer({ status: 404 }, { status: 404 }, { status: 404 })
    await publish({ subject: 'one' }, { subject: 'two' }, { subject: 'three' })
    await page.locator('#events .fate[data-state="waiting"]').nth(2).waitFor()
    await publish({ subject: 'late' })
    const held = page.locator('.fate', { hasText: 'held back until 14:12:09' })
    await page.locator('#events .fate', { hasText: 'queued · held back until 14:12:09' }).waitFor()
    await page.locator('#subscriptions li', { has: held }).locator('summary').click()
    await expect.poll(() => page.locator('#events').locator(held).count()).toBe(4)
    await page.locator('#events tr', { hasText: 'two' }).click()
    await page.locator('#detail dd', { hasText: '14:12:09' }).waitFor()
    await page.locator('#detail').getByRole('button', { name: 'Try now' }).click()
    await page.locator('#detail .fate[data-state="delivered"]').waitFor()
    await page.locator('#events tr', { hasText: 'late' }).locator('[data-state="delivered"]').waitFor()
    await page.getByRole('button', { name: 'Close' }).click()
    await page.locator('#subscriptions').getByRole('button', { name: 'Try now' }).click()
    await page.locator('[data-total="delivered"]', { hasText: '4' }).waitFor()
    await page.locator('#subscriptions').getByRole('button', { name: 'Try now' }).waitFor({ state: 'detached' })
  })

  it('filters by topic, event subscription, status and answer, keeps that in its address, and exports what matches', async () => {
    const { emulator, subscriber, publish } = await openShop({ topics: [{ name: 'orders' }, { name: 'returns' }] })
    await showPage(page, emulator)
    subscriber.answer({ status: 503 }, { status: 400 })
    await publish({ subject: 'busy' })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await publish({ subject: 'wrong' })
    await page.locator('.fate[data-state="given up"]').waitFor()
    await publish({ subject: 'fine', data: { amount: 1 } })
    emulator.raise('returns', [
      { specversion: '1.0', id: '1', source: '/shop', type: 'Shop.Returned', subject: 'returned' },
    ])
    const rows = page.locator('#events tr:visible .line:not(.source .line, .topic .line)')
    for (const [field, label, left] of [
      ['topic', 'returns', ['returned']],
      ['subscription', 'billing', ['fine', 'wrong', 'busy']],
      ['status', 'Unmatched', ['returned']],
      ['answer', '400', ['wrong']],
    ] as const) {
      await page.locator(`#filter-${field} option`, { hasText: label }).waitFor({ state: 'attached' })
      await page.locator(`#filter-${field}`).selectOption({ label })
      await expect.poll(() => rows.allInnerTexts()).toEqual(left)
      await page.locator('#matches', { hasText: `${left.length} of 4 match` }).waitFor()
      if (field !== 'answer') await page.getByRole('button', { name: 'Clear' }).click()
    }
    const address = page.url()
    await page.goto('about:blank')
    await page.goto(address)
    await expect.poll(() => rows.allInnerTexts()).toEqual(['wrong'])
    const downloading = page.waitForEvent('download')
    await page.getByRole('button', { name: 'Export JSON' }).click()
    const file = await (await downloading).path()
    expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject([
      {
        subject: 'wrong',
        event: { specversion: '1.0' },
        subscriptions: [{ name: 'billing', attempts: [{ status: 400 }] }],
      },
    ])
    await page.getByRole('button', { name: 'Clear' }).click()
    expect(await rows.count()).toBe(4)
    expect(new URL(page.url()).hash).toBe('')
  })

  it('goes from event to event in the dialog, opens each at its top, and publishes again, edited or not', async () => {
    const { emulator, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    subscriber.answer({ status: 200 }, { status: 400 })
    await publish({ id: 'old', subject: 'old' })
    await page.locator('.fate[data-state="delivered"]').waitFor()
    await publish({ id: 'new', subject: 'new', data: Array.from({ length: 300 }, (_, index) => index) })
    await page.locator('.fate[data-state="given up"]').waitFor()
    await page.locator('#events tr', { hasText: 'old' }).click()
    const dialog = page.locator('#detail')
    const newer = dialog.getByRole('button', { name: 'Newer' })
    await newer.focus()
    await page.keyboard.press('ArrowUp')
    await dialog.locator('dd', { hasText: /^new$/ }).first().waitFor()
    await dialog.locator('.try[data-failed]').waitFor()
    expect(await newer.getAttribute('aria-disabled')).toBe('true')
    const place = await dialog.evaluate((one) => {
      return { atTop: one.scrollTop === 0, scrolls: one.scrollHeight > one.clientHeight }
    })
    expect(place).toEqual({ atTop: true, scrolls: true })
    await dialog.evaluate((one) => one.scrollTo(0, one.scrollHeight))
    await page.keyboard.press('ArrowDown')
    await dialog.locator('dd', { hasText: /^old$/ }).first().waitFor()
    expect(await dialog.evaluate((one) => one.scrollTop)).toBe(0)
    await dialog.getByRole('button', { name: 'Publish again' }).click()
    await subscriber.received(3)
    await dialog.getByRole('button', { name: 'Edit and publish' }).click()
    const text = await page.locator('#event:focus').inputValue()
    await page.locator('#event').fill(text.replaceAll('old', 'edited'))
    await page.keyboard.press('Control+Enter')
    await page.locator('#events tr', { hasText: 'edited' }).waitFor()
    expect(subscriber.deliveries().map(({ body }) => JSON.parse(body).id)).toEqual(['old', 'new', 'old', 'edited'])
  })

  it('links to an event by its key, since ids repeat, and says why an event subscription does not match', async () => {
    const { emulator, publish } = await openShop(
      {},
      { filter: { advancedFilters: [{ operatorType: 'NumberIn', key: 'amount', values: [1] }] } },
    )
    await showPage(page, emulator)
    await publish({ id: 'twice', subject: 'first' })
    await publish({ id: 'twice', subject: 'second' })
    await page.locator('#events tr', { hasText: 'second' }).waitFor()
    await page.locator('#events tr', { hasText: 'first' }).click()
    const dialog = page.locator('#detail')
    await dialog.locator('dd', { hasText: /^first$/ }).waitFor()
    await dialog.locator('li', { hasText: 'billing does not match: the event has no key amount' }).waitFor()
    const { events } = emulator.events()
    const link = `#event=${events[0]?.key}`
    expect([new URL(page.url()).hash, await dialog.locator('#detail-link').getAttribute('href')]).toEqual([link, link])
    await page.goto('about:blank')
    await page.goto(`${emulator.proxy}/${link}`)
    await dialog.locator('dd', { hasText: /^first$/ }).waitFor()
  })

  it('tells that all streams are taken, and that no answer comes', async () => {
    const { emulator } = await openShop()
    const streams = await Promise.all(Array.from({ length: 16 }, () => fetch(`${emulator.proxy}/emulator/stream`)))
    await page.goto(emulator.proxy)
    await page.locator('#connection', { hasText: 'Sixteen pages are open' }).waitFor()
    await page.locator('#no-events', { hasText: 'Sixteen pages are open' }).waitFor()
    await page.goto('about:blank')
    for (const { body } of streams) await body?.cancel()
    await page.route('**/emulator/stream', () => {})
    await page.goto(emulator.proxy, { waitUntil: 'commit' })
    await page.locator('#connection', { hasText: 'No answer yet' }).waitFor()
    await page.goto('about:blank')
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  it('begins near the top on a phone, with the throughput folded below', async () => {
    const { emulator, publish } = await openShop()
    await publish({})
    await showPage(page, emulator)
    await page.setViewportSize({ width: 390, height: 844 })
    await page.locator('#events tr').first().waitFor()
    expect(await page.evaluate('document.querySelector("#events").getBoundingClientRect().top')).toBeLessThan(422)
    await page.locator('summary', { hasText: 'Throughput' }).click()
    await page.getByRole('img', { name: /published and delivered/ }).waitFor()
  })

  it('holds still on request, and finds events by text and by what became of them', async () => {
    const { emulator, clock, subscriber, publish } = await openShop()
    await showPage(page, emulator)
    const rows = page.locator('#events tr:visible')
    subscriber.answer({ status: 503 })
    await publish({ subject: 'refused' })
    await page.locator('.fate[data-state="waiting"]').waitFor()
    await page.locator('#pause').click()
    await publish({ subject: 'accepted' })
    // A change of an event that is there is not a new one.
    await clock.advance(60_000)
    await page.locator('[data-total="delivered"]', { hasText: '2' }).waitFor()
    await page.locator('#pause', { hasText: 'Resume (1 new)' }).click()
    await page.locator('#events tr', { hasText: 'accepted' }).waitFor()
    await page.locator('#filter-status').selectOption('waiting')
    await expect.poll(() => rows.count()).toBe(0)
    await page.locator('#filter-status').selectOption('')
    await page.locator('#filter-text').fill('ACCEPTED')
    expect(await rows.allInnerTexts()).toEqual([expect.stringContaining('accepted')])
  })

  it('lets go of its stream while nobody sees it, and takes it up again', async () => {
    const { emulator, publish } = await openShop()
    await showPage(page, emulator)
    const see = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true })
        document.dispatchEvent(new Event('visibilitychange'))`)
    const streams = async () => (await fetch(`${emulator.proxy}/emulator/state`)).json()
    await see(true)
    await expect.poll(streams).toMatchObject({ stream: { clients: 0 } })
    await publish({ subject: 'meanwhile' })
    await see(false)
    await page.locator('#events tr', { hasText: 'meanwhile' }).waitFor()
  })

  it('says that the emulator is away, and shows the next one’s events once it is there', async () => {
    const { emulator, clock, publish } = await openShop()
    await publish({ id: 'first', subject: 'of the former emulator' })
    await showPage(page, emulator, { forgive: /ERR_CONNECTION_REFUSED|ERR_INCOMPLETE_CHUNKED/ })
    await page.locator('#events tr', { hasText: 'of the former emulator' }).waitFor()
    await emulator.close()
    await page.locator('#connection', { hasText: 'No connection to the emulator' }).waitFor()
    // The counts are those of before.
    await page.locator('[data-total="published"].old', { hasText: '1' }).waitFor()
    const next = await startEmulator({ clock, httpPort: Number(new URL(emulator.proxy).port) })
    next.raise(next.topic().id, [
      { specversion: '1.0', id: 'second', source: '/shop', type: 'Shop.OrderPaid', subject: 'of the next emulator' },
    ])
    await page.locator('#events tr', { hasText: 'of the next emulator' }).waitFor()
    expect(await page.locator('#events tr').count()).toBe(1)
    await page.locator('#connection', { hasText: 'Live' }).waitFor()
  })
})
