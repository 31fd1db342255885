// The datasets of a Fuseki in tests: their kinds, a configuration with them, and datasets created and removed while it
// runs.

const PREFIXES = `PREFIX fuseki: <http://jena.apache.org/fuseki#>
PREFIX ja: <http://jena.hpl.hp.com/2005/11/Assembler#>
PREFIX tdb2: <http://jena.apache.org/2016/tdb#>
`

/** In memory; `union`: its default graph is the union of its named graphs. */
export const IN_MEMORY = {
  mem: 'ja:MemoryDataset',
  tdb2: 'tdb2:DatasetTDB2 ; tdb2:location "--mem--"',
  union: 'tdb2:DatasetTDB2 ; tdb2:location "--mem--" ; tdb2:unionDefaultGraph true',
} as const

type Service = readonly [name: string, type: keyof typeof IN_MEMORY]

const serviceOf = ([name, type]: Service): string => `[] a fuseki:Service ; fuseki:name "${name}" ;
  fuseki:dataset [ a ${IN_MEMORY[type]} ] ;
  fuseki:endpoint [ fuseki:operation fuseki:query ; fuseki:name "query" ] ,
    [ fuseki:operation fuseki:update ; fuseki:name "update" ] , [ fuseki:operation fuseki:gsp-rw ; fuseki:name "data" ] .
`

/** The configuration of a Fuseki with these datasets, in Turtle. */
export const configurationOf = (services: readonly Service[]): string =>
  `${PREFIXES}[] a fuseki:Server .\n${services.map(serviceOf).join('')}`

export type DatasetType = 'mem' | 'tdb2' | 'union'

/** The option of Java with which Fuseki creates datasets that a request describes. */
export const ALLOW_DESCRIBED = '-Dfuseki:allowAddByConfigFile=true'

/**
 * Creates an empty dataset, in memory or (tdb2) on disk (Fuseki's administration protocol). Returns the reason if this
 * Fuseki cannot.
 */
export async function createDataset(
  base: string,
  name: string,
  type: DatasetType = 'mem',
): Promise<undefined | { readonly missing: string }> {
  const asked =
    type === 'union'
      ? { headers: { 'Content-Type': 'text/turtle' }, body: PREFIXES + serviceOf([name, type]) }
      : { body: new URLSearchParams({ dbName: `/${name}`, dbType: type }) }
  const { ok, status } = await fetch(`${base}/$/datasets`, { method: 'POST', ...asked })
  return ok ? undefined : { missing: `this Fuseki creates no datasets on demand (status ${status})` }
}

export async function removeDataset(base: string, name: string): Promise<void> {
  await fetch(`${base}/$/datasets/${name}`, { method: 'DELETE' })
}
