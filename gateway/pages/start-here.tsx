// What a container's page offers below its list: uploading a file and, in an empty application, first steps.
import { NFO } from '../rdf/vocabulary.js'
import { texts } from './texts.js'

/** RDF/POST with a file (LinkedDataHub 3.3), as programs send it: the document describes the file. */
export const Upload = () => (
  <details>
    <summary>{texts().upload}</summary>
    <form method="post" enctype="multipart/form-data" class="box">
      <input type="hidden" name="rdf" value="" />
      <input type="hidden" name="sb" value="file" />
      <input type="hidden" name="pu" value={NFO('fileName')} />
      <label for="file">{texts().file}</label>
      <p class="hint" id="file-help">
        {texts().uploadHelp}
      </p>
      <input id="file" name="ol" type="file" required aria-describedby="file-help" />
      <div class="actions">
        <button class="main">{texts().uploadNow}</button>
      </div>
    </form>
  </details>
)

interface Props {
  readonly base: string
  readonly admin: string
}

export const StartHere = ({ base, admin }: Props) => (
  <section class="box good" aria-labelledby="start">
    <h2 id="start">{texts().startTitle}</h2>
    <p>{texts().startHelp}</p>
    <h3>{texts().startDocument}</h3>
    <p>
      <a href="?form=new">{texts().startHere}</a> {texts().startShell}
    </p>
    <pre tabindex={0}>
      {curl(
        `-X PUT -H 'Content-Type: text/turtle' \\\n  -d '<> <http://purl.org/dc/terms/title> "Hello" .' ${base}hello/`,
      )}
    </pre>
    <h3>{texts().startAccess}</h3>
    <p>
      <a href={`${base}access?this=${encodeURIComponent(base)}`}>{texts().startHere}</a> {texts().startShell}
    </p>
    <pre tabindex={0}>
      {curl(
        `-X PUT -H 'Content-Type: text/turtle' \\\n  -d '@prefix acl: <http://www.w3.org/ns/auth/acl#> . <#this> a acl:Authorization ; acl:mode acl:Read ;\n    acl:agentClass <http://xmlns.com/foaf/0.1/Agent> ; acl:accessTo <${base}> ;\n    acl:default <${base}> .' \\\n  ${admin}acl/authorizations/everybody-reads/`,
      )}
    </pre>
    <h3>{texts().startQuery}</h3>
    <p>
      <a href={`${base}sparql`}>{texts().startHere}</a> {texts().startShell}
    </p>
    <pre tabindex={0}>
      {curl(
        `-H 'Accept: text/csv' \\\n  --data-urlencode 'query=SELECT ?d ?t { GRAPH ?d { ?d <http://purl.org/dc/terms/title> ?t } }' \\\n  ${base}sparql`,
      )}
    </pre>
    <p>{texts().startMore}</p>
  </section>
)

/** Relative to the folder in which the gateway was started. */
export const CERTS = '"${TRIPLEGATE_DATA:-data}"/certs'
const curl = (rest: string): string => `curl --cacert ${CERTS}/server.pem --cert ${CERTS}/owner.pem \\\n  ${rest}`
