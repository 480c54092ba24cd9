// Runs in the page. Every text that can be seen with too little contrast to what is behind it (WCAG 2.2, 1.4.3), and how
// many were looked at.
;(() => {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 1
  const context = canvas.getContext('2d', { willReadFrequently: true })
  const paint = (...colours) => {
    context.clearRect(0, 0, 1, 1)
    for (const colour of colours) {
      context.fillStyle = colour
      context.fillRect(0, 0, 1, 1)
    }
    return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3)
  }
  const luminance = (rgb) => {
    const [red, green, blue] = rgb.map((value) => {
      const part = value / 255
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4
    })
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backgrounds = (element) =>
    element ? [...backgrounds(element.parentElement), getComputedStyle(element).backgroundColor] : ['Canvas']

  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  const faults = []
  let texts = 0
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim()
    const element = walker.currentNode.parentElement
    if (text === '' || !element.checkVisibility() || element.closest('script, option')) continue
    texts++
    const { color, fill } = getComputedStyle(element)
    const behind = backgrounds(element)
    const [one, other] = [
      luminance(paint(...behind)),
      luminance(paint(...behind, element.closest('svg') ? fill : color)),
    ]
    const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
    if (contrast < 4.5) faults.push(`${text}: ${contrast.toFixed(2)}`)
  }
  return { texts, faults, page: luminance(paint(...backgrounds(document.body))) }
})()
