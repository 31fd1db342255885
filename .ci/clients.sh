#!/usr/bin/env bash
# The clients of a store that test/gateway/sparql/queries/clients.test.ts runs: fetches into .cache/ those that are missing there.
set -euo pipefail
cd "$(dirname "$0")/.."

PYTHONPATH=.cache/python python3 -c 'import rdflib, SPARQLWrapper' 2>/dev/null ||
  python3 -m pip install -q --target .cache/python rdflib SPARQLWrapper

# Comunica 5 needs Node.js 22.
[ -d .cache/clients/node_modules ] || {
  mkdir -p .cache/clients
  echo '{ "private": true }' >.cache/clients/package.json
  npm install --prefix .cache/clients --ignore-scripts --no-audit --no-fund --loglevel=error @comunica/query-sparql@4.5.0 @triply/yasgui@4.2.28
}

# The bundle has most of the OWL API's dependencies in its folder lib/.
[ -d .cache/owlapi/lib ] || {
  rm -rf .cache/owlapi
  mkdir -p .cache/owlapi
  for artifact in net.sourceforge.owlapi:owlapi-osgidistribution:5.5.1 javax.inject:javax.inject:1 \
    com.google.guava:guava:33.0.0-jre com.google.guava:failureaccess:1.0.2; do
    mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:2.10:copy "-Dartifact=$artifact" -DoutputDirectory="$PWD/.cache/owlapi" </dev/null
  done
  (cd .cache/owlapi && jar xf owlapi-osgidistribution-5.5.1.jar lib)
}

# Apache Jena's scripts are in its source release, and in no other artifact of Maven Central.
[ -d .cache/soh ] || {
  release=$(mktemp -d)
  mvn -q -B org.apache.maven.plugins:maven-dependency-plugin:2.10:copy -Dartifact=org.apache.jena:jena:5.6.0:zip:source-release \
    -Dmdep.useBaseVersion "-DoutputDirectory=$release" </dev/null
  (cd "$release" && jar xf jena-5.6.0-source-release.zip jena-5.6.0/jena-cmds/src/main/ruby)
  mkdir -p .cache
  mv "$release/jena-5.6.0/jena-cmds/src/main/ruby" .cache/soh
  rm -rf "$release"
}
