// Comfort for the page of queries: colours, earlier queries of this browser, running and stopping. The page works without it.
const form = document.querySelector('form[data-earlier]')
const area = document.getElementById('query')
const TOKEN =
  /(#[^\n]*)|("""[^]*?"""|'''[^]*?'''|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')|(<[^<>\s"{}|^`\\]*>)|([?$]\w+)|((?:[A-Za-z][\w-]*)?:[\w.-]*)|\b(SELECT|ASK|CONSTRUCT|DESCRIBE|WHERE|FROM|NAMED|PREFIX|BASE|GRAPH|OPTIONAL|UNION|MINUS|FILTER|BIND|VALUES|SERVICE|SILENT|AS|IN|NOT|EXISTS|DISTINCT|REDUCED|ORDER|GROUP|BY|HAVING|ASC|DESC|LIMIT|OFFSET|UNDEF|COUNT|SUM|MIN|MAX|AVG|SAMPLE|GROUP_CONCAT|SEPARATOR|STR|LANG|DATATYPE|IRI|URI|BOUND|REGEX|CONTAINS|STRSTARTS|STRENDS|LCASE|UCASE|CONCAT|REPLACE|IF|COALESCE|YEAR|MONTH|DAY|NOW|a)\b/gi
const KINDS = ['comment', 'string', 'iri', 'variable', 'name', 'keyword']
const LONGEST = 20000

function element(name, className, text) {
  const made = document.createElement(name)
  if (className) made.className = className
  if (text !== undefined) made.textContent = text
  return made
}

function colours() {
  const box = element('div', 'editor')
  const shown = element('pre')
  shown.setAttribute('aria-hidden', 'true')
  area.before(box)
  box.append(shown, area)
  const draw = () => {
    const text = area.value
    box.classList.toggle('plain-text', text.length > LONGEST)
    if (text.length > LONGEST) return
    const parts = []
    let end = 0
    for (const match of text.matchAll(TOKEN)) {
      const kind = KINDS[match.slice(1).findIndex((group) => group !== undefined)]
      parts.push(text.slice(end, match.index), element('span', kind, match[0]))
      end = match.index + match[0].length
    }
    shown.replaceChildren(...parts, `${text.slice(end)}\n`)
    shown.scrollTop = area.scrollTop
  }
  area.addEventListener('input', draw)
  area.addEventListener('scroll', () => (shown.scrollTop = area.scrollTop))
  draw()
  return draw
}

/** The declarations of known prefixes that the query uses and lacks go before it, when it is left or run. */
function declare(draw) {
  const text = area.value
  if (text.length > LONGEST) return
  const plain = text.replace(TOKEN, (token, comment, string, iri) => (comment || string || iri ? ' ' : token))
  const lines = document.getElementById('prefixes').textContent.split('\n')
  const missing = lines.filter((line) => {
    const name = /^PREFIX (\w+:)/.exec(line)?.[1]
    return name && new RegExp(`(?<![\\w.-])${name}`).test(plain) && !new RegExp(`PREFIX\\s+${name}`, 'i').test(plain)
  })
  if (missing.length === 0) return
  area.value = `${missing.join('\n')}\n${text}`
  draw()
}

const KEY = 'triplegate-queries'
const MOST = 20

function stored() {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? '[]')
    return Array.isArray(found) ? found.filter((one) => typeof one === 'string') : []
  } catch {
    return []
  }
}

function store(queries) {
  try {
    if (queries.length === 0) localStorage.removeItem(KEY)
    else localStorage.setItem(KEY, JSON.stringify(queries.slice(0, MOST)))
  } catch {
    // The browser keeps nothing: then there are no earlier queries.
  }
}

function earlier(draw) {
  const queries = stored()
  if (queries.length === 0) return
  const box = element('details')
  const list = element('ul', 'plain queries')
  for (const query of queries) {
    const item = element('li')
    const button = element('button', 'code', query.replace(/\s+/g, ' ').slice(0, 120))
    button.type = 'button'
    button.addEventListener('click', () => {
      area.value = query
      draw()
      area.focus()
    })
    item.append(button)
    list.append(item)
  }
  const forget = element('button', 'grave', form.dataset.forget)
  forget.type = 'button'
  forget.addEventListener('click', () => {
    store([])
    box.remove()
  })
  box.append(element('summary', '', form.dataset.earlier), list, forget)
  form.after(box)
}

function running(draw) {
  const run = form.querySelector('button')
  const stop = element('button', 'grave', form.dataset.stop)
  stop.type = 'button'
  const rest = () => stop.remove()
  stop.addEventListener('click', () => {
    window.stop()
    rest()
    area.focus()
  })
  area.addEventListener('change', () => declare(draw))
  form.addEventListener('submit', () => {
    declare(draw)
    const query = area.value
    if (query.length <= LONGEST) store([query, ...stored().filter((one) => one !== query)])
    run.after(stop)
  })
  window.addEventListener('pageshow', rest)
  area.addEventListener('keydown', (event) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) form.requestSubmit()
  })
}

if (form && area) {
  const draw = colours()
  earlier(draw)
  running(draw)
}
