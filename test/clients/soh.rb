# Running Apache Jena's scripts for SPARQL over HTTP (s-get, s-put, s-query and their like) as they are, each in a process of
# its own: with the URL of a dataset, a base, and pairs of a name and a token. Prints a line for each step.
require 'net/http'
require 'openssl'
require 'optparse'
require 'ostruct'
require 'pp'
require 'tmpdir'

SCRIPTS, AT, BASE, *CREDENTIALS = ARGV
$agent, $token = nil

# The scripts have no option for a credential: `RUBYOPT=-r./credential.rb` with these lines gives them one.
Net::HTTPGenericRequest.prepend(Module.new do
  def initialize_http_header(fields)
    super
    basic_auth('any', $token) unless $token.empty?
  end
end)

# Its output, or the status of the refusal.
def soh(script, *arguments)
  reader, writer = IO.pipe
  child = fork do
    reader.close
    $stdout.reopen(writer)
    $stderr.reopen(writer)
    $0 = File.join(SCRIPTS, script)
    ARGV.replace(arguments)
    load $0
  end
  writer.close
  output = reader.read
  Process.wait(child)
  $?.success? ? output : output[/^(\d{3})\b/, 1] || output
end

def step(name, outcome)
  puts [$agent, name, outcome.empty? ? 'done' : outcome].join("\t")
end

def value(output)
  output.match?(/\A\d{3}\z/) ? output : yield(output)
end

SELECT = "SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v"
OWN = 'urn:soh'

Dir.mktmpdir do |folder|
  turtle, triples = %w[a.ttl a.nt].map { |name| File.join(folder, name) }
  File.write(turtle, '<urn:s> <urn:p> "é" .')
  File.write(triples, '<urn:s> <urn:p> "b" .')
  CREDENTIALS.each_slice(2) do |agent, token|
    $agent, $token = agent, token
    data = "#{AT}/data"
    values = ->(output) { value(output) { |csv| csv.split.drop(1).join(' ') } }
    step 'query', values[soh('s-query', '--service', "#{AT}/query", '--output=csv', SELECT)]
    step 'query by POST', values[soh('s-query', '--post', '--service', AT, '--output=csv', SELECT)]
    step 'put', soh('s-put', data, OWN, turtle)
    step 'post', soh('s-post', data, OWN, triples)
    step 'update', soh('s-update', '--service', "#{AT}/update", "INSERT DATA { GRAPH <#{OWN}> { <urn:s> <urn:p> 1 } }")
    step 'update by a form', soh('s-update-form', '--service', AT, "INSERT DATA { GRAPH <#{OWN}> { <urn:s> <urn:p> 2 } }")
    step 'get own', value(soh('s-get', data, OWN)) { |text| %w["é" "b" 1 2].all? { |term| text.include?(term) }.to_s }
    step 'get hidden', value(soh('s-get', data, "#{BASE}hidden/")) { |text| text.include?('"hidden"').to_s }
    step 'get open', value(soh('s-get', data, "#{BASE}open/")) { |text| text.include?('"open"').to_s }
    step 'head open', soh('s-head', data, "#{BASE}open/")
    step 'delete', soh('s-delete', data, OWN)
  end
end
