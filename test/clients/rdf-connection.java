// Apache Jena's RDFConnection as a client: what an agent may do at a dataset, one line for each step.
// Arguments: the dataset, then for each agent its name and its access token ('' for none).
import java.util.Map;
import org.apache.jena.atlas.web.HttpException;
import org.apache.jena.http.auth.AuthEnv;
import org.apache.jena.query.Dataset;
import org.apache.jena.query.DatasetFactory;
import org.apache.jena.query.QueryExecution;
import org.apache.jena.query.ResultSet;
import org.apache.jena.rdf.model.Model;
import org.apache.jena.rdf.model.ModelFactory;
import org.apache.jena.rdfconnection.RDFConnection;
import org.apache.jena.sparql.engine.http.QueryExceptionHTTP;

class RdfConnectionClient {
  interface Step {
    Object run() throws Exception;
  }

  static void step(String agent, String name, Step step) {
    Object outcome;
    try {
      outcome = step.run();
    } catch (HttpException e) {
      outcome = e.getStatusCode();
    } catch (QueryExceptionHTTP e) {
      outcome = e.getStatusCode();
    } catch (Exception e) {
      outcome = e;
    }
    System.out.println(agent + "\t" + name + "\t" + outcome);
  }

  static Object done(Runnable run) {
    run.run();
    return "done";
  }

  static Model model(String value) {
    Model model = ModelFactory.createDefaultModel();
    model.createResource("urn:s").addProperty(model.createProperty("urn:value"), value);
    return model;
  }

  static String values(QueryExecution execution) {
    StringBuilder values = new StringBuilder();
    try (execution) {
      ResultSet results = execution.execSelect();
      while (results.hasNext()) values.append(results.next().getLiteral("v").getString()).append(' ');
    }
    return values.toString().trim();
  }

  public static void main(String[] args) {
    String dataset = args[0];
    String base = args[1];
    for (int at = 2; at < args.length; at += 2) {
      String agent = args[at];
      String own = "urn:jena:" + agent;
      AuthEnv.get().clearAuthEnv();
      if (!args[at + 1].isEmpty())
        for (String prefix : new String[] {dataset, dataset + "/"})
          AuthEnv.get().registerBasicAuthModifier(prefix, "any", args[at + 1]);
      try (RDFConnection connection = RDFConnection.connect(dataset)) {
        step(agent, "query", () -> values(connection.query("SELECT ?v { GRAPH ?g { ?s <urn:value> ?v } FILTER(!STRSTARTS(STR(?g), 'urn:')) } ORDER BY ?v")));
        step(agent, "update", () -> done(() -> connection.update("INSERT DATA { GRAPH <" + own + "> { <urn:s> <urn:value> 1 } }")));
        step(agent, "put", () -> done(() -> connection.put(own, model("put"))));
        step(agent, "load", () -> done(() -> connection.load(own, model("loaded"))));
        step(agent, "fetch own", () -> connection.fetch(own).size());
        step(agent, "fetch hidden", () -> connection.fetch(base + "hidden/").size() > 0);
        step(agent, "fetch open", () -> connection.fetch(base + "open/").size() > 0);
        step(agent, "put document", () -> done(() -> connection.put(base + "jena/", model("document"))));
        step(agent, "delete document", () -> done(() -> connection.delete(base + "jena/")));
        step(agent, "load dataset", () -> done(() -> {
          Dataset quads = DatasetFactory.create();
          quads.addNamedModel(own, model("quads"));
          connection.loadDataset(quads);
        }));
        step(agent, "fetch dataset", () -> {
          Dataset quads = connection.fetchDataset();
          return quads.containsNamedModel(base + "open/") + " " + quads.containsNamedModel(base + "hidden/");
        });
        step(agent, "delete", () -> done(() -> connection.delete(own)));
      }
      // It sends the password when it is asked for one.
      AuthEnv.get().clearAuthEnv();
      if (!args[at + 1].isEmpty()) AuthEnv.get().registerUsernamePassword(dataset, "any", args[at + 1]);
      try (RDFConnection connection = RDFConnection.connect(dataset)) {
        step(agent, "asked, query", () -> connection.queryAsk("ASK {}"));
        step(agent, "asked, update", () -> done(() -> connection.update("CLEAR SILENT GRAPH <" + own + ">")));
      }
    }
  }
}
