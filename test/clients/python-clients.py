# RDFLib's SPARQLUpdateStore and SPARQLWrapper as clients: what an agent may do at a dataset, one line for each step.
# Arguments: the dataset, then for each agent its name and its access token ('' for none).
import re
import sys

from rdflib import ConjunctiveGraph, Graph, Literal, URIRef
from rdflib.plugins.stores.sparqlstore import SPARQLUpdateStore
from SPARQLWrapper import BASIC, CSV, JSON, JSONLD, N3, POST, RDF, RDFXML, TSV, TURTLE, XML, SPARQLWrapper

QUERY = "SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v"


def step(agent, name, run, is_done=False):
    try:
        outcome = run()
        outcome = "done" if is_done else outcome
    except Exception as error:
        status = re.search(r"\b(4\d\d)\b", str(getattr(error, "code", "")) + " " + str(error))
        outcome = status.group(1) if status else type(error).__name__
    print(agent, name, outcome, sep="\t")


def rdflib(agent, dataset, token):
    store = SPARQLUpdateStore(dataset + "/query", dataset + "/update", auth=("any", token) if token else None)
    own = Graph(store, URIRef("urn:rdflib:" + agent))
    step(agent, "rdflib query", lambda: " ".join(str(row[0]) for row in ConjunctiveGraph(store).query(QUERY)))
    step(agent, "rdflib add", lambda: own.add((URIRef("urn:s"), URIRef("urn:value"), Literal("added"))), is_done=True)
    step(agent, "rdflib length", lambda: len(own))
    step(agent, "rdflib remove", lambda: own.remove((None, None, None)), is_done=True)


def wrapper(agent, dataset, token):
    def ask(endpoint, text, form=JSON):
        client = SPARQLWrapper(dataset + endpoint)
        if token:
            client.setHTTPAuth(BASIC)
            client.setCredentials("any", token)
        client.setReturnFormat(form)
        client.setMethod(POST)
        client.setQuery(text)
        return client.query()

    def query():
        bindings = ask("/sparql", QUERY).convert()["results"]["bindings"]
        return " ".join(one["v"]["value"] for one in bindings)

    def formats():
        made = []
        for form in (XML, JSON, CSV, TSV, TURTLE, N3, RDF, RDFXML, JSONLD):
            for text in (QUERY, "CONSTRUCT { <urn:s> <http://e/p> 1 } {}"):
                answer = ask("/sparql", text, form)
                made.append(answer.info()["content-type"].split(";")[0].split("/")[1])
        return " ".join(made)

    graph = "<urn:wrapper:%s>" % agent
    step(agent, "wrapper formats", formats)
    step(agent, "wrapper query", query)
    step(agent, "wrapper update", lambda: ask("/update", "INSERT DATA { GRAPH %s { <urn:s> <urn:value> 1 } }" % graph), is_done=True)
    step(agent, "wrapper clear", lambda: ask("/update", "DROP GRAPH " + graph), is_done=True)


dataset, agents = sys.argv[1], sys.argv[2:]
for agent, token in zip(agents[::2], agents[1::2]):
    rdflib(agent, dataset, token)
    wrapper(agent, dataset, token)
